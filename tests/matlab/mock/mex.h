/* A stand-in for MATLAB's mex.h: the part of its interface that the binding uses, as MATLAB declares it. With it the
 * gateway compiles and runs where there is no MATLAB. mock.c has the functions, gateway.c the tests. */
#ifndef DENISE_MOCK_MEX_H
#define DENISE_MOCK_MEX_H

#ifndef MATLAB_MEX_FILE
#error "mex always defines MATLAB_MEX_FILE"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxArray_tag mxArray;
typedef size_t mwSize;
typedef size_t mwIndex;
typedef enum { mxREAL, mxCOMPLEX } mxComplexity;
typedef enum {
  mxUNKNOWN_CLASS,
  mxCELL_CLASS,
  mxSTRUCT_CLASS,
  mxLOGICAL_CLASS,
  mxCHAR_CLASS,
  mxVOID_CLASS,
  mxDOUBLE_CLASS,
  mxSINGLE_CLASS,
  mxINT8_CLASS,
  mxUINT8_CLASS,
  mxINT16_CLASS,
  mxUINT16_CLASS,
  mxINT32_CLASS,
  mxUINT32_CLASS,
  mxINT64_CLASS,
  mxUINT64_CLASS,
  mxFUNCTION_CLASS
} mxClassID;

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);
int mexAtExit(void (*function)(void));
int mexCallMATLAB(int nlhs, mxArray *plhs[], int nrhs, mxArray *prhs[], const char *name);
_Noreturn void mexErrMsgIdAndTxt(const char *id, const char *format, ...);
void mexWarnMsgIdAndTxt(const char *id, const char *format, ...);

void *mxMalloc(size_t size);
void mxFree(void *memory);

mxArray *mxCreateNumericMatrix(size_t rows, size_t columns, mxClassID type, mxComplexity complexity);
mxArray *mxCreateUninitNumericArray(size_t dimensions, size_t *size, mxClassID type, mxComplexity complexity);
mxArray *mxCreateDoubleScalar(double value);
mxArray *mxCreateString(const char *text);
mxArray *mxCreateStructMatrix(size_t rows, size_t columns, int fields, const char **names);

bool mxIsChar(const mxArray *array);
bool mxIsClass(const mxArray *array, const char *name);
bool mxIsComplex(const mxArray *array);
bool mxIsEmpty(const mxArray *array);
bool mxIsNumeric(const mxArray *array);
bool mxIsSparse(const mxArray *array);
bool mxIsStruct(const mxArray *array);
bool mxIsUint64(const mxArray *array);

mxClassID mxGetClassID(const mxArray *array);
const char *mxGetClassName(const mxArray *array);
void *mxGetData(const mxArray *array);
const mwSize *mxGetDimensions(const mxArray *array);
size_t mxGetElementSize(const mxArray *array);
size_t mxGetM(const mxArray *array);
mwSize mxGetNumberOfDimensions(const mxArray *array);
size_t mxGetNumberOfElements(const mxArray *array);
double mxGetScalar(const mxArray *array);
int mxGetString(const mxArray *array, char *text, mwSize size);

mxArray *mxGetFieldByNumber(const mxArray *array, mwIndex index, int field);
const char *mxGetFieldNameByNumber(const mxArray *array, int field);
int mxGetNumberOfFields(const mxArray *array);
void mxSetFieldByNumber(mxArray *array, mwIndex index, int field, mxArray *value);

/* Numbers of complex arrays: pairs since R2018a, two arrays before. Whoever uses one kind does not see the other. */
#if defined(MX_HAS_INTERLEAVED_COMPLEX) && MX_HAS_INTERLEAVED_COMPLEX
double *mxGetDoubles(const mxArray *array);
#else
double *mxGetPr(const mxArray *array);
double *mxGetPi(const mxArray *array);
#endif

#endif
