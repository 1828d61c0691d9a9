#include "mock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mxArray_tag {
  mxClassID type;
  const char *class_name;
  size_t dimensions, size[4];
  int sparse, complex, fields;
  const char **names;
  mxArray **values; /* of the fields */
  void *data;
};

char mock_id[64], mock_message[512];
static jmp_buf back;
static void (*at_exit)(void);

/* ------------------------------------------------------- memory: a host knows all that it gave out */

enum { MOST = 4096 };
static void *given[MOST];
static int count;

void *mxMalloc(size_t size) {
  if (count == MOST) abort();
  return given[count++] = malloc(size);
}

void mxFree(void *memory) {
  if (memory == NULL) return;
  for (int i = 0; i < count; ++i) {
    if (given[i] == memory) {
      free(memory);
      given[i] = given[--count];
      return;
    }
  }
  fprintf(stderr, "mxFree of memory that did not come from mxMalloc\n");
  abort();
}

void mock_forget(void) {
  while (count > 0) free(given[--count]);
}

/* ------------------------------------------------------------------------------------------- arrays */

static size_t bytes_of(mxClassID type) {
  switch (type) {
    case mxDOUBLE_CLASS: case mxINT64_CLASS: case mxUINT64_CLASS: return 8;
    case mxSINGLE_CLASS: case mxINT32_CLASS: case mxUINT32_CLASS: return 4;
    case mxINT16_CLASS: case mxUINT16_CLASS: case mxCHAR_CLASS: return 2;
    default: return 1;
  }
}

static mxArray *create(mxClassID type, const char *name, size_t dimensions, const size_t *size) {
  mxArray *array = mxMalloc(sizeof *array);
  memset(array, 0, sizeof *array);
  array->type = type;
  array->class_name = name;
  array->dimensions = dimensions;
  size_t elements = 1;
  for (size_t i = 0; i < dimensions; ++i) elements *= array->size[i] = size[i];
  array->data = mxMalloc(elements * bytes_of(type)); /* to the byte, so that AddressSanitizer sees a step beyond */
  memset(array->data, 0xff, elements * bytes_of(type)); /* what is not written stays NaN */
  return array;
}

static const char *name_of(mxClassID type) {
  static const char *names[] = {"unknown", "cell",   "struct", "logical", "char",  "void",
                                "double",  "single", "int8",   "uint8",   "int16", "uint16",
                                "int32",   "uint32", "int64",  "uint64",  "function_handle"};
  return names[type];
}

mxArray *mxCreateUninitNumericArray(size_t dimensions, size_t *size, mxClassID type, mxComplexity complexity) {
  (void)complexity;
  return create(type, name_of(type), dimensions, size);
}

mxArray *mxCreateNumericMatrix(size_t rows, size_t columns, mxClassID type, mxComplexity complexity) {
  size_t size[2] = {rows, columns};
  mxArray *array = mxCreateUninitNumericArray(2, size, type, complexity);
  memset(array->data, 0, rows * columns * bytes_of(type));
  return array;
}

mxArray *mxCreateDoubleScalar(double value) {
  mxArray *array = mxCreateNumericMatrix(1, 1, mxDOUBLE_CLASS, mxREAL);
  *(double *)array->data = value;
  return array;
}

mxArray *mxCreateString(const char *text) { return mock_text(text, 0); }

mxArray *mxCreateStructMatrix(size_t rows, size_t columns, int fields, const char **names) {
  const size_t size[2] = {rows, columns};
  mxArray *array = create(mxSTRUCT_CLASS, "struct", 2, size);
  const size_t room = (size_t)fields + 1;
  array->fields = fields;
  array->names = mxMalloc(room * sizeof *array->names);
  array->values = mxMalloc(room * sizeof *array->values);
  for (int i = 0; i < fields; ++i) {
    array->names[i] = names[i];
    array->values[i] = NULL;
  }
  return array;
}

mxArray *mock_array(mxClassID type, size_t dimensions, const size_t *size, const double *values) {
  mxArray *array = create(type, name_of(type), dimensions, size);
  for (size_t i = 0; i < mxGetNumberOfElements(array); ++i) {
    switch (type) {
      case mxDOUBLE_CLASS: ((double *)array->data)[i] = values[i]; break;
      case mxSINGLE_CLASS: ((float *)array->data)[i] = (float)values[i]; break;
      case mxUINT64_CLASS: ((uint64_t *)array->data)[i] = (uint64_t)values[i]; break;
      case mxINT8_CLASS: ((int8_t *)array->data)[i] = (int8_t)values[i]; break;
      default: abort();
    }
  }
  return array;
}

mxArray *mock_object(const char *class_name) {
  const size_t size[2] = {1, 1};
  return create(mxUNKNOWN_CLASS, class_name, 2, size);
}

mxArray *mock_text(const char *text, int string) {
  const size_t size[2] = {strlen(text) > 0, strlen(text)};
  mxArray *array = create(mxCHAR_CLASS, "char", 2, size);
  for (size_t i = 0; i < size[1]; ++i) ((uint16_t *)array->data)[i] = (uint16_t)text[i];
  if (string) {
    array->type = mxUNKNOWN_CLASS;
    array->class_name = "string";
  }
  return array;
}

void mock_make(mxArray *array, int sparse, int complex) {
  array->sparse = sparse;
  array->complex = complex;
}

bool mxIsChar(const mxArray *array) { return array->type == mxCHAR_CLASS; }
bool mxIsClass(const mxArray *array, const char *name) { return strcmp(array->class_name, name) == 0; }
bool mxIsComplex(const mxArray *array) { return array->complex; }
bool mxIsEmpty(const mxArray *array) { return mxGetNumberOfElements(array) == 0; }
bool mxIsNumeric(const mxArray *array) { return array->type >= mxDOUBLE_CLASS && array->type <= mxUINT64_CLASS; }
bool mxIsSparse(const mxArray *array) { return array->sparse; }
bool mxIsStruct(const mxArray *array) { return array->type == mxSTRUCT_CLASS; }
bool mxIsUint64(const mxArray *array) { return array->type == mxUINT64_CLASS; }
mxClassID mxGetClassID(const mxArray *array) { return array->type; }
const char *mxGetClassName(const mxArray *array) { return array->class_name; }
void *mxGetData(const mxArray *array) { return array->data; }
const mwSize *mxGetDimensions(const mxArray *array) { return array->size; }
size_t mxGetElementSize(const mxArray *array) { return bytes_of(array->type); }
size_t mxGetM(const mxArray *array) { return array->size[0]; }
mwSize mxGetNumberOfDimensions(const mxArray *array) { return array->dimensions; }

size_t mxGetNumberOfElements(const mxArray *array) {
  size_t elements = 1;
  for (size_t i = 0; i < array->dimensions; ++i) elements *= array->size[i];
  return elements;
}

double mxGetScalar(const mxArray *array) {
  switch (array->type) {
    case mxDOUBLE_CLASS: return *(double *)array->data;
    case mxSINGLE_CLASS: return (double)*(float *)array->data;
    case mxINT8_CLASS: return *(int8_t *)array->data;
    case mxUINT64_CLASS: return (double)*(uint64_t *)array->data;
    default: abort();
  }
}

int mxGetString(const mxArray *array, char *text, mwSize size) {
  const size_t length = mxGetNumberOfElements(array);
  for (size_t i = 0; i < length && i + 1 < size; ++i) text[i] = (char)((uint16_t *)array->data)[i];
  text[length < size ? length : size - 1] = '\0';
  return length >= size;
}

int mxGetNumberOfFields(const mxArray *array) { return array->fields; }
const char *mxGetFieldNameByNumber(const mxArray *array, int field) { return array->names[field]; }

mxArray *mxGetFieldByNumber(const mxArray *array, mwIndex index, int field) {
  if (index != 0) abort();
  return array->values[field];
}

void mxSetFieldByNumber(mxArray *array, mwIndex index, int field, mxArray *value) {
  if (index != 0) abort();
  array->values[field] = value;
}

/* -------------------------------------------------------------------------------------------- calls */

int mexAtExit(void (*function)(void)) {
  at_exit = function;
  return 0;
}

int mexCallMATLAB(int nlhs, mxArray *plhs[], int nrhs, mxArray *prhs[], const char *name) {
  if (nlhs != 1 || nrhs != 1 || strcmp(name, "char") != 0 || strcmp(prhs[0]->class_name, "string") != 0) abort();
  plhs[0] = create(mxCHAR_CLASS, "char", 2, prhs[0]->size);
  memcpy(plhs[0]->data, prhs[0]->data, 2 * mxGetNumberOfElements(prhs[0]));
  return 0;
}

static void say(const char *id, const char *format, va_list rest) {
  snprintf(mock_id, sizeof mock_id, "%s", id);
  vsnprintf(mock_message, sizeof mock_message, format, rest);
}

void mexErrMsgIdAndTxt(const char *id, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  say(id, format, rest);
  va_end(rest);
  longjmp(back, 1);
}

void mexWarnMsgIdAndTxt(const char *id, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  say(id, format, rest);
  va_end(rest);
}

void mock_call(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  mock_id[0] = mock_message[0] = '\0';
  for (int i = 0; i < (nlhs > 0 ? nlhs : 1); ++i) plhs[i] = NULL;
  if (setjmp(back) == 0) mexFunction(nlhs, plhs, nrhs, prhs);
}

void mock_clear_mex(void) {
  if (at_exit != NULL) at_exit();
  at_exit = NULL;
}
