/* host PLUGIN...: opens plug-ins that have libdenise.a in them, each with a copy of its own, and lets them use it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (plugin == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*use_denise)(void);
    void *symbol = dlsym(plugin, "use_denise");
    memcpy(&use_denise, &symbol, sizeof symbol); /* the way POSIX suggests */
    if (symbol == NULL || use_denise() != 0) return 1;
  }
  return 0;
}
