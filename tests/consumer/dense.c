/* dense FILE: what the installed library says of a network that another program wrote. 0 if it runs it, 5 if it has no
 * loader for it. */
#include <denise.h>
#include <stdio.h>

int main(int argc, char **argv) {
  denise_model *model = NULL;
  if (argc != 2) return 100;
  denise_status status = denise_load(argv[1], NULL, &model);
  puts(denise_status_string(status));
  denise_free(model);
  return status;
}
