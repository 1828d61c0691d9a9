/* paths MODEL FOLDER: names of files are UTF-8. A model under a name in four scripts, under a long one and in a folder
 * of such a name loads; a name that is no UTF-8 is refused. */
#include <denise.h>

#include "trust.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

static wchar_t *wide(const char *text) {
  enum { LONGEST = 4096 };
  wchar_t *made = calloc(LONGEST, sizeof *made);
  if (made == NULL || MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, made, LONGEST) == 0) abort();
  return made;
}

/* Loads a copy of the model by that name, and says what a message about it says. */
static void opens(const char *model, const char *copy) {
  wchar_t *from = wide(model), *to = wide(copy);
  CHECK(CopyFileW(from, to, FALSE));
  char message[2000] = "?";
  denise_options options;
  denise_options_init(&options, sizeof options);
  options.message = message;
  options.message_size = sizeof message;
  denise_model *loaded = NULL;
  CHECK(denise_load(copy, &options, &loaded) == DENISE_OK && loaded != NULL);
  if (loaded == NULL) fprintf(stderr, "%s: %s\n", copy, message);
  denise_free(loaded);
  CHECK(DeleteFileW(to));
  CHECK(denise_load(copy, &options, &loaded) == DENISE_ERR_IO && loaded == NULL);
  CHECK(strstr(message, copy) != NULL); /* the name comes back as it was given */
  free(from);
  free(to);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  char path[3000];
  const char *names[] = {"plain.onnx", "Größe é.onnx", "модель.onnx", "模型 αβγ.onnx", "\xF0\x9F\xA6\x80.onnx"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", argv[2], names[i]);
    opens(argv[1], path);
  }
  snprintf(path, sizeof path, "%s\\Überordner 模", argv[2]);
  wchar_t *folder = wide(path);
  CHECK(CreateDirectoryW(folder, NULL));
  denise_model *model = NULL;
  CHECK(denise_load(path, NULL, &model) == DENISE_ERR_IO && model == NULL); /* no regular file */
  strcat(path, "\\model.onnx");
  opens(argv[1], path);
  CHECK(RemoveDirectoryW(folder));
  free(folder);
  /* Longer than 260 characters; shorter once it is brought into order. */
  snprintf(path, sizeof path, "%s", argv[2]);
  while (strlen(path) < 700) strcat(path, "/.");
  strcat(path, "/läng.onnx");
  CHECK(denise_load(path, NULL, &model) == DENISE_ERR_IO && model == NULL);
  wchar_t *from = wide(argv[1]);
  char brief[3000];
  snprintf(brief, sizeof brief, "%s/läng.onnx", argv[2]);
  wchar_t *to = wide(brief);
  CHECK(CopyFileW(from, to, FALSE));
  CHECK(denise_load(path, NULL, &model) == DENISE_OK);
  denise_free(model);
  CHECK(DeleteFileW(to));
  free(from);
  free(to);
  CHECK(denise_load("\xFF\xFE.onnx", NULL, &model) == DENISE_ERR_ARGUMENT && model == NULL);
  CHECK(strstr(denise_last_error(), "UTF-8") != NULL);
  /* Devices are no files, whatever folder they are said to be in. */
  const char *devices[] = {"NUL", "CON", "C:\\", "\\\\.\\pipe\\no such pipe"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    CHECK(denise_load(devices[i], NULL, &model) == DENISE_ERR_IO && model == NULL);
  }
  return verdict("paths");
}
