/* A program as the tools of MSVC make it: compiled for their ABI, linked with denise.lib, without any C runtime. It
 * ends with 0 if the odd pair of the README is found. */
#include <denise.h>

/* From kernel32.dll; there need be no header of Windows on the machine. */
__declspec(dllimport) __attribute__((noreturn)) void __stdcall ExitProcess(unsigned int code);
/* Compilers for Windows want it in a program that uses floating-point numbers. */
int _fltused = 1;

static float m[25], l[25], s[25];

void start(void) {
  denise_options options;
  denise_model *model;
  for (int i = 0; i < 25; i++) m[i] = 1;
  m[22] = 1.5F;
  denise_options_init(&options, sizeof options);
  options.n = 5;
  options.k = 1;
  if (denise_load(0, &options, &model) != DENISE_OK) ExitProcess(1);
  if (denise_decompose_batch(model, 1, m, 0, l, s, 0) != DENISE_OK) ExitProcess(2);
  denise_free(model);
  if (!(l[22] > 0.99F && l[22] < 1.01F && s[22] > 0.49F && s[22] < 0.51F)) ExitProcess(3);
  if (denise_load("no such file", &options, &model) != DENISE_ERR_IO) ExitProcess(4);
  ExitProcess(0);
}
