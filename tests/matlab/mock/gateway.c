/* The gateway as MATLAB would call it. Results are Octave's to check; here it is about what only MATLAB has: strings,
 * gpuArrays, fields that were never filled, errors that jump, and a host that counts its memory. */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static mxArray *out[6];

static void expect(int holds, const char *what, int line) {
  if (holds) {
    ++passed;
    return;
  }
  ++failed;
  fprintf(stderr, "gateway.c:%d: %s; the call ended with [%s] %s\n", line, what, mock_id, mock_message);
}
#define EXPECT(holds) expect((holds) != 0, #holds, __LINE__)

static int call(int nlhs, const char *command, const mxArray *a, const mxArray *b, const mxArray *c, const mxArray *d) {
  const mxArray *in[] = {mock_text(command, 0), a, b, c, d};
  int count = 1;
  while (count < 5 && in[count] != NULL) ++count;
  mock_call(nlhs, out, count, in);
  return mock_id[0] == '\0';
}

static int refused(const char *id, const char *words) {
  return strcmp(mock_id, id) == 0 && strstr(mock_message, words) != NULL;
}

static mxArray *ones(mxClassID type, size_t pages) {
  const size_t size[3] = {5, 5, pages};
  double values[50];
  for (int i = 0; i < 50; ++i) values[i] = 1;
  for (int q = 0; q < 2; ++q) values[25 * q + 14] = values[25 * q + 22] = 1.5;
  return mock_array(type, pages == 1 ? 2 : 3, size, values);
}

static mxArray *number(double value) { return mxCreateDoubleScalar(value); }
static mxArray *string(const char *text) { return mock_text(text, 1); }

static double entry(const mxArray *array, size_t i) {
  const void *data = mxGetData(array);
  return mxGetClassID(array) == mxDOUBLE_CLASS ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void results(void) {
  for (int single = 0; single < 2; ++single) {
    const mxClassID type = single ? mxSINGLE_CLASS : mxDOUBLE_CLASS;
    EXPECT(call(4, "decompose", ones(type, 2), number(1), NULL, NULL));
    EXPECT(mxGetClassID(out[0]) == type && mxGetNumberOfDimensions(out[0]) == 3 && mxGetNumberOfElements(out[2]) == 10);
    for (size_t i = 0; i < 50; ++i) {
      const double l = entry(out[0], i), s = entry(out[1], i);
      EXPECT(l > 0.999 && l < 1.001 && l + s > 0.999 && l + s < 1.501);
    }
    EXPECT(entry(out[1], 14) > 0.499 && entry(out[1], 39) > 0.499);
    EXPECT(mxGetNumberOfFields(out[3]) == 8);
    EXPECT(call(2, "solve", ones(type, 1), string("RPCA-GD"), number(1), NULL));
    EXPECT(mxGetClassID(out[1]) == type && entry(out[0], 0) == entry(out[0], 0));
    mock_forget();
  }
}

static void options(void) {
  const char *names[] = {"K", "threads", "model"};
  mxArray *given = mxCreateStructMatrix(1, 1, 3, names);
  mxSetFieldByNumber(given, 0, 0, number(1)); /* the others were never filled: NULL in MATLAB */
  EXPECT(call(3, "decompose", ones(mxDOUBLE_CLASS, 1), given, NULL, NULL) && mxGetNumberOfElements(out[2]) == 5);
  EXPECT(call(3, "decompose", ones(mxDOUBLE_CLASS, 1), string("k"), number(2), NULL));
  EXPECT(mxGetNumberOfElements(out[2]) == 10);
  EXPECT(call(1, "decompose", ones(mxDOUBLE_CLASS, 1), string("model"), string(""), NULL));
  EXPECT(call(1, "decompose", ones(mxDOUBLE_CLASS, 1), string("model"), string("models/default.onnx"), NULL));
  EXPECT(!call(1, "decompose", ones(mxDOUBLE_CLASS, 1), string("model"), string("no/model"), NULL));
  EXPECT(refused("denise:io", "no/model"));
  EXPECT(!call(1, "decompose", ones(mxDOUBLE_CLASS, 1), string("rank"), number(2), NULL));
  EXPECT(refused("denise:argument", "unknown option 'rank'"));
  EXPECT(!call(1, "decompose", ones(mxDOUBLE_CLASS, 1), number(1), mock_object("cell"), NULL));
  EXPECT(refused("denise:argument", "there is a cell"));
  mock_forget();
}

static void arrays(void) {
  mxArray *sparse = ones(mxDOUBLE_CLASS, 1), *complex = ones(mxSINGLE_CLASS, 1), *uneven = ones(mxDOUBLE_CLASS, 1);
  mock_make(sparse, 1, 0);
  mock_make(complex, 0, 1);
  ((double *)mxGetData(uneven))[1] = 2;
  EXPECT(!call(1, "decompose", mock_object("gpuArray"), NULL, NULL, NULL) && refused("denise:class", "gpuArray"));
  EXPECT(!call(1, "decompose", sparse, NULL, NULL, NULL) && refused("denise:class", "full (M)"));
  EXPECT(!call(1, "decompose", complex, NULL, NULL, NULL) && refused("denise:complex", "real"));
  EXPECT(!call(1, "decompose", uneven, NULL, NULL, NULL));
  EXPECT(refused("denise:notSymmetric", "M(1,2) = 1 but M(2,1) = 2"));
  mxArray *nan = ones(mxSINGLE_CLASS, 2);
  ((float *)mxGetData(nan))[0] = ((float *)mxGetData(nan))[0] / 0.0F;
  call(2, "decompose", nan, NULL, NULL, NULL);
  EXPECT(refused("denise:notFinite", "1 of 2 matrices") && out[0] != NULL && entry(out[0], 0) != entry(out[0], 0));
  mock_forget();
}

static void handles(void) {
  for (int life = 0; life < 3; ++life) {
    const char *file = life == 1 ? "fast" : "models/default.onnx"; /* a network that is built in, too */
    EXPECT(call(1, "open", string(file), string("threads"), number(2), NULL));
    const uint64_t id = *(uint64_t *)mxGetData(out[0]);
    mxArray *net = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
    *(uint64_t *)mxGetData(net) = id;
    EXPECT(call(1, "decompose", net, ones(mxDOUBLE_CLASS, 2), NULL, NULL));
    EXPECT(call(1, "info", net, NULL, NULL, NULL) && mxGetNumberOfFields(out[0]) == 9);
    EXPECT(!call(1, "open", string("Makefile"), NULL, NULL, NULL) && refused("denise:format", "Makefile"));
    if (life == 0) EXPECT(call(0, "close", net, NULL, NULL, NULL));
    if (life == 1) mock_clear_mex(); /* with a model open */
    if (life < 2) {
      EXPECT(!call(1, "decompose", net, ones(mxDOUBLE_CLASS, 1), NULL, NULL));
      EXPECT(refused("denise:handle", "parfor"));
    }
    mock_forget();
  }
}

static mxArray *handle(uint64_t id) {
  mxArray *array = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
  *(uint64_t *)mxGetData(array) = id;
  return array;
}

/* Returns of 4 assets, in any shape. */
static mxArray *returns(mxClassID type, size_t a, size_t b, size_t c) {
  const size_t size[3] = {a, b, c};
  double values[240];
  for (int i = 0; i < 240; ++i) values[i] = 1 + 0.01 * ((i * 7919) % 31); /* positive: they serve as prices too */
  return mock_array(type, c == 1 ? 2 : 3, size, values);
}

static void streams(void) {
  for (int single = 0; single < 2; ++single) {
    const mxClassID type = single ? mxSINGLE_CLASS : mxDOUBLE_CLASS;
    EXPECT(call(1, "stream_new", number(4), string("streams"), number(3), NULL));
    const uint64_t id = *(uint64_t *)mxGetData(out[0]);
    EXPECT(call(4, "stream_push", handle(id), returns(type, 4, 3, 20), NULL, NULL));
    EXPECT(mxGetClassID(out[0]) == type && mxGetNumberOfDimensions(out[0]) == 4);
    EXPECT(mxGetNumberOfElements(out[1]) == 960 && mxGetNumberOfElements(out[2]) == 720);
    EXPECT(entry(out[0], 0) != entry(out[0], 0) && entry(out[0], 959) == entry(out[0], 959));
    EXPECT(call(0, "stream_push", handle(id), returns(type, 4, 3, 1), NULL, NULL) && out[0] == NULL);
    EXPECT(call(1, "stream_covariance", handle(id), NULL, NULL, NULL) && mxGetNumberOfElements(out[0]) == 48);
    EXPECT(call(4, "stream_matrices", handle(id), out[0], NULL, NULL) && mxGetNumberOfElements(out[0]) == 48);
    EXPECT(call(1, "stream_save", handle(id), number(2), NULL, NULL) && mxGetClassID(out[0]) == mxUINT8_CLASS);
    mxArray *state = out[0];
    EXPECT(call(0, "stream_restore", handle(id), state, number(3), NULL));
    EXPECT(!call(0, "stream_restore", handle(id), state, NULL, NULL));
    EXPECT(!call(0, "stream_restore", handle(id), number(1), NULL, NULL) && refused("denise:class", "uint8"));
    EXPECT(call(0, "stream_reset", handle(id), number(1), NULL, NULL));
    EXPECT(!call(1, "stream_reset", handle(id), NULL, NULL, NULL) && refused("denise:argument", "too many results"));
    EXPECT(!call(0, "stream_reset", handle(id), number(4), NULL, NULL) && refused("denise:argument", "there are 3"));
    EXPECT(!call(1, "stream_push", handle(id), mock_object("gpuArray"), NULL, NULL));
    EXPECT(refused("denise:class", "R must"));
    EXPECT(!call(1, "stream_push", handle(id), returns(type, 3, 4, 1), NULL, NULL));
    EXPECT(refused("denise:shape", "3-by-4"));
    if (single) EXPECT(call(0, "stream_close", handle(id), NULL, NULL, NULL));
    if (!single) mock_clear_mex(); /* with a stream open */
    EXPECT(!call(1, "stream_push", handle(id), returns(type, 4, 3, 1), NULL, NULL));
    EXPECT(refused("denise:handle", "parfor"));
    EXPECT(call(5, "rolling", returns(type, 60, 4, 1), number(10), string("step"), number(20)));
    EXPECT(mxGetNumberOfElements(out[0]) == 48 && entry(out[4], 0) == 11 && entry(out[4], 2) == 51);
    mxArray *prices = returns(type, 60, 4, 1);
    memset(mxGetData(prices), 0, mxGetElementSize(prices));
    EXPECT(!call(1, "rolling", prices, number(10), NULL, NULL) && refused("denise:argument", "P(1,1) is 0"));
    mock_forget(); /* and the stream of that call is freed by the next one */
  }
}

static mxArray *column(mxClassID type, double value) {
  const size_t size[2] = {5, 1};
  const double values[5] = {value, value, value, value, value};
  return mock_array(type, 2, size, values);
}

static void covariances(void) {
  for (int single = 0; single < 2; ++single) {
    const mxClassID type = single ? mxSINGLE_CLASS : mxDOUBLE_CLASS;
    mxArray *all[6];
    EXPECT(call(6, "covariance", ones(type, 2), number(1), string("floor"), number(0.5)));
    memcpy(all, out, sizeof all);
    EXPECT(mxGetClassID(all[0]) == type && mxGetNumberOfElements(all[0]) == 50 && mxGetNumberOfElements(all[1]) == 50);
    EXPECT(mxGetClassID(all[2]) == type && mxGetM(all[2]) == 5 && mxGetNumberOfElements(all[2]) == 10);
    EXPECT(mxGetClassID(all[3]) == mxDOUBLE_CLASS && mxGetM(all[3]) == 2 && mxGetNumberOfElements(all[3]) == 2);
    EXPECT(mxGetNumberOfElements(all[4]) == 10 && mxGetNumberOfFields(all[5]) == 8);
    EXPECT(entry(all[0], 0) > 1.49 && entry(all[0], 0) < 1.51 && entry(all[0], 1) == entry(all[0], 5));
    EXPECT(call(4, "covariance", ones(type, 2), all[4], string("floor"), number(0.5)));
    EXPECT(entry(out[0], 49) == entry(all[0], 49) && entry(out[3], 1) == entry(all[3], 1));
    EXPECT(!call(5, "covariance", ones(type, 2), all[4], NULL, NULL) && refused("denise:argument", "too many results"));
    EXPECT(!call(1, "covariance", ones(type, 1), all[4], NULL, NULL) && refused("denise:shape", "as many pages as M"));
    EXPECT(!call(1, "covariance", ones(type, 1), number(1), string("floor"), number(2)));
    EXPECT(refused("denise:argument", "floor"));
    EXPECT(!call(1, "covariance", mock_object("gpuArray"), NULL, NULL, NULL) && refused("denise:class", "gpuArray"));

    EXPECT(call(1, "sigma_multiply", all[4], all[2], column(type, 1), NULL) && mxGetNumberOfElements(out[0]) == 10);
    mxArray *product = out[0];
    EXPECT(call(1, "sigma_solve", all[4], all[2], product, NULL) && mxGetNumberOfDimensions(out[0]) == 3);
    for (size_t i = 0; i < 10; ++i) EXPECT(entry(out[0], i) > 0.999 && entry(out[0], i) < 1.001);
    EXPECT(call(1, "sigma_solve", all[4], all[2], ones(type, 2), NULL) && mxGetNumberOfElements(out[0]) == 50);
    EXPECT(!call(1, "sigma_solve", all[4], all[2], mock_object("gpuArray"), NULL) && refused("denise:class", "b must"));
    EXPECT(!call(1, "sigma_solve", all[4], column(type, 1), product, NULL) && refused("denise:shape", "d must be"));
    const mxClassID other = single ? mxDOUBLE_CLASS : mxSINGLE_CLASS;
    EXPECT(!call(1, "sigma_solve", all[4], all[2], column(other, 1), NULL) && refused("denise:class", "one class"));
    call(1, "sigma_solve", column(type, 1), column(type, 0), column(type, 1), NULL);
    EXPECT(refused("denise:singular", "not positive") && out[0] != NULL && entry(out[0], 0) != entry(out[0], 0));
    mxArray *nothing = ones(type, 2);
    memset(mxGetData(nothing), 0, 25 * mxGetElementSize(nothing));
    call(6, "covariance", nothing, number(1), NULL, NULL);
    EXPECT(refused("denise:singular", "on 1 of 2 pages (the first is 1)") && entry(out[0], 25) == entry(out[0], 25));

    EXPECT(call(1, "rank", ones(type, 2), number(100), string("most"), number(3)));
    EXPECT(mxGetClassID(out[0]) == mxDOUBLE_CLASS && mxGetNumberOfElements(out[0]) == 2 && entry(out[0], 0) <= 3);
    EXPECT(!call(1, "rank", ones(type, 1), string("k"), number(1), NULL) && refused("denise:argument", "unknown"));

    EXPECT(call(1, "stream_new", number(4), string("streams"), number(3), NULL));
    const uint64_t id = *(uint64_t *)mxGetData(out[0]);
    EXPECT(call(3, "stream_push", handle(id), returns(type, 4, 3, 20), NULL, NULL));
    mxArray *u = out[2];
    EXPECT(call(4, "stream_sigma", handle(id), u, string("floor"), number(0.1)));
    EXPECT(mxGetNumberOfElements(out[0]) == 48 && mxGetM(out[2]) == 4 && mxGetM(out[3]) == 3);
    EXPECT(entry(out[1], 47) == entry(out[1], 47));
    EXPECT(!call(1, "stream_sigma", handle(id), column(type, 1), NULL, NULL) && refused("denise:shape", "4-by-3-by-3"));
    EXPECT(!call(1, "stream_sigma", handle(id + 1), u, NULL, NULL) && refused("denise:handle", "parfor"));
    EXPECT(call(0, "stream_close", handle(id), NULL, NULL, NULL));
    mock_forget();
  }
}

int main(void) {
  results();
  options();
  arrays();
  handles();
  streams();
  covariances();
  mock_clear_mex(); /* AddressSanitizer says what is left */
  mock_forget();
  printf("gateway, %s: %d passed, %d failed\n", API, passed, failed);
  return failed > 0;
}
