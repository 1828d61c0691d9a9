#include "arguments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  unsigned bit;
} options[] = {{"k", OPTION_K},
               {"threads", OPTION_THREADS},
               {"model", OPTION_MODEL},
               {"correlation", OPTION_CORRELATION},
               {"careful", OPTION_CAREFUL},
               {"missing", OPTION_MISSING},
               {"lambda", OPTION_LAMBDA},
               {"streams", OPTION_STREAMS},
               {"window", OPTION_WINDOW},
               {"half_life", OPTION_HALF_LIFE},
               {"demean", OPTION_DEMEAN},
               {"warm_up", OPTION_WARM_UP},
               {"step", OPTION_STEP},
               {"returns", OPTION_RETURNS},
               {"floor", OPTION_FLOOR},
               {"observations", OPTION_OBSERVATIONS},
               {"most", OPTION_MOST}};
enum { OPTIONS = sizeof options / sizeof options[0] };

static int is_text(const mxArray *value) { return mxIsChar(value) || mxIsClass(value, "string"); }

/* Not by mxArrayToString, whose memory Octave does not take back. */
char *text(const mxArray *value, const char *what) {
  if (mxIsClass(value, "string")) { /* MATLAB's other kind of text */
    mxArray *in = (mxArray *)value, *out = NULL;
    mexCallMATLAB(1, &out, 1, &in, "char");
    value = out;
  }
  if (!mxIsChar(value) || mxGetNumberOfDimensions(value) != 2 || (mxGetM(value) != 1 && !mxIsEmpty(value))) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be text: a string or a row of characters, not %s", what,
                      mxIsChar(value) ? "several rows" : mxGetClassName(value));
  }
  const size_t size = 4 * (size_t)mxGetNumberOfElements(value) + 1; /* as UTF-8 */
  char *string = mxMalloc(size);
  string[0] = '\0';
  if (!mxIsEmpty(value) && mxGetString(value, string, (mwSize)size) != 0) {
    mexErrMsgIdAndTxt("denise:argument", "%s cannot be read", what);
  }
  return string;
}

static double real_scalar(const mxArray *value, const char *what) {
  if (!mxIsNumeric(value)) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be a number, not %s", what, mxGetClassName(value));
  }
  if (mxIsComplex(value) || mxIsSparse(value) || mxGetNumberOfElements(value) != 1) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be one real number", what);
  }
  return mxGetScalar(value);
}

static uint32_t yes_or_no(const mxArray *value, const char *what) {
  const double number = mxIsClass(value, "logical") && mxGetNumberOfElements(value) == 1 ? mxGetScalar(value)
                                                                                        : real_scalar(value, what);
  if (number != 0 && number != 1) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be true or false, not %g", what, number);
  }
  return number == 1;
}

static uint32_t whole(const mxArray *value, const char *what, int least) {
  const double number = real_scalar(value, what);
  if (!(number >= least && number == floor(number))) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be a whole number from %d on, not %g", what, least, number);
  }
  return number < 1e9 ? (uint32_t)number : (uint32_t)1000000000; /* more than the library takes, and it says so */
}

uint32_t positive(const mxArray *value, const char *what) { return whole(value, what, 1); }

static double not_negative(const mxArray *value, const char *what, const char *meaning) {
  const double number = real_scalar(value, what);
  if (!(number >= 0) || isinf(number)) {
    mexErrMsgIdAndTxt("denise:argument", "%s must be positive (0 or []: %s), not %g", what, meaning, number);
  }
  return number;
}

static void set(wishes *result, unsigned bit, const mxArray *value) {
  const char *model;
  if (value == NULL || mxIsEmpty(value)) return; /* NULL: a field that MATLAB never filled */
  result->given |= bit;
  switch (bit) {
    case OPTION_K: result->k = positive(value, "k"); break;
    case OPTION_THREADS: result->threads = positive(value, "threads"); break;
    case OPTION_CORRELATION: result->correlation = yes_or_no(value, "correlation"); break;
    case OPTION_CAREFUL: result->careful = yes_or_no(value, "careful"); break;
    case OPTION_MISSING: result->missing = yes_or_no(value, "missing"); break;
    case OPTION_MODEL:
      model = text(value, "model");
      result->model = model[0] != '\0' ? model : NULL; /* "", which is not empty for MATLAB */
      break;
    case OPTION_LAMBDA: result->lambda = not_negative(value, "lambda", "the value of the paper"); break;
    case OPTION_STREAMS: result->streams = positive(value, "streams"); break;
    case OPTION_WINDOW: result->window = whole(value, "window", 0); break;
    case OPTION_HALF_LIFE: result->half_life = not_negative(value, "half_life", "60, without a window"); break;
    case OPTION_DEMEAN: result->demean = yes_or_no(value, "demean"); break;
    case OPTION_WARM_UP: result->warm_up = whole(value, "warm_up", 0); break;
    case OPTION_STEP: result->step = positive(value, "step"); break;
    case OPTION_FLOOR: result->floor = not_negative(value, "floor", "0.01"); break;
    case OPTION_OBSERVATIONS: result->observations = not_negative(value, "observations", "not known"); break;
    case OPTION_MOST: result->most = whole(value, "most", 0); break;
    default: result->returns = yes_or_no(value, "returns"); break;
  }
}

static int same_word(const char *a, const char *b) {
  for (; *a != '\0' && (*a | 32) == (*b | 32); ++a, ++b) {}
  return *a == '\0' && *b == '\0';
}

static void set_by_name(wishes *result, const char *name, const mxArray *value, unsigned allowed) {
  char names[128] = "";
  for (int i = 0; i < OPTIONS; ++i) {
    if ((allowed & options[i].bit) == 0) continue;
    if (same_word(name, options[i].name)) {
      set(result, options[i].bit, value);
      return;
    }
    const int last = allowed < 2 * options[i].bit; /* no higher bit */
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : last ? " and " : ", ", options[i].name);
  }
  mexErrMsgIdAndTxt("denise:argument", "unknown option '%s': there are %s", name, names);
}

wishes parse_options(int count, const mxArray *arguments[], unsigned allowed, const unsigned *plain) {
  wishes result = {0};
  int i = 0;
  for (; *plain != 0 && i < count && mxIsNumeric(arguments[i]); ++plain, ++i) set(&result, *plain, arguments[i]);
  while (i < count) {
    if (mxIsStruct(arguments[i])) {
      if (mxGetNumberOfElements(arguments[i]) != 1) {
        mexErrMsgIdAndTxt("denise:argument", "a struct of options must be 1-by-1: it has %lu elements",
                          (unsigned long)mxGetNumberOfElements(arguments[i]));
      }
      for (int field = 0; field < mxGetNumberOfFields(arguments[i]); ++field) {
        set_by_name(&result, mxGetFieldNameByNumber(arguments[i], field),
                    mxGetFieldByNumber(arguments[i], 0, field), allowed);
      }
      i += 1;
    } else if (is_text(arguments[i])) {
      const char *name = text(arguments[i], "the name of an option");
      if (i + 1 == count) mexErrMsgIdAndTxt("denise:argument", "option '%s' has no value", name);
      set_by_name(&result, name, arguments[i + 1], allowed);
      i += 2;
    } else {
      mexErrMsgIdAndTxt("denise:argument",
                        "the name of an option or a struct of options is expected where there is a %s%s",
                        mxGetClassName(arguments[i]),
                        mxIsNumeric(arguments[i]) ? ": too many numbers without a name" : "");
    }
  }
  return result;
}
