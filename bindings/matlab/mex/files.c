#include "files.h"

#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(failure *why, const char *id, const char *reason) {
  why->id = id;
  snprintf(why->text, sizeof why->text, "%s", reason);
  return 0;
}

int read_whole_file(const char *path, void **bytes, size_t *size, failure *why) {
  enum { FIRST = 1 << 16, LIMIT = 1 << 30 };
  FILE *stream = host_open(path);
  if (stream == NULL) return fail(why, "denise:io", strerror(errno));
  size_t room = FIRST, used = 0;
  char *data = malloc(room);
  int too_long = 0;
  while (data != NULL) {
    used += fread(data + used, 1, room - used, stream);
    if (used < room) break;
    too_long = room >= LIMIT;
    if (too_long) break;
    char *larger = realloc(data, room *= 2);
    if (larger == NULL) free(data);
    data = larger;
  }
  const int broken = ferror(stream) ? errno : 0;
  fclose(stream);
  if (data == NULL) return fail(why, "denise:memory", "out of memory");
  if (broken != 0 || too_long) {
    free(data);
    return broken != 0 ? fail(why, "denise:io", strerror(broken)) : fail(why, "denise:format", "longer than 1 GB");
  }
  *bytes = data;
  *size = used;
  return 1;
}
