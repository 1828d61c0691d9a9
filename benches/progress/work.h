/* Multiplications of the network for one matrix, most of them fused with an addition: `Work::all` of benches/table.rs,
   which explains the terms. Change both together. */

#ifndef WORK_H
#define WORK_H

#include <stdio.h>
#include <string.h>

/* Columns of the start beyond k, as EXTRA in crates/denise/src/unrolled. */
#define EXTRA 2

struct layers {
  double shared, own;
};

/* Counts the lines of crates/denise/models/<name>.layers. */
static struct layers layers_of(const char *path) {
  struct layers found = {0.0, 0.0};
  char line[1024];
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "shared ", 7) == 0) found.shared += 1.0;
    if (strncmp(line, "own ", 4) == 0) found.own += 1.0;
  }
  if (file != NULL) fclose(file);
  return found;
}

static double work(struct layers layers, double n, double k) {
  double width = k + EXTRA < n ? k + EXTRA : n;
  double pairs = n * (n + 1.0) / 2.0, triangle = k * (k + 1.0) / 2.0;
  double count = layers.shared + layers.own;
  double products = (5.0 * width + 3.0) * n * n + count * (pairs * k + n * n * k) + layers.own * n * n * triangle +
                    pairs * k;
  double factor = k * (k * k - 1.0) / 6.0 + k * (k - 1.0) / 2.0 + 2.0;
  return products + n * width * (3.5 * width + k) + count * (2.0 * pairs + n * (k * k + 4.0 * k + 1.0)) +
         layers.own * n * (triangle + factor) + layers.shared * (n * triangle + factor + n * k) + 3.0 * pairs;
}

#endif
