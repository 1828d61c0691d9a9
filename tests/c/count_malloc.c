/* A library to preload: it counts every allocation and release of the process and passes them on.
 *
 * glibc's own names are used rather than dlsym, which itself allocates. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_ulong calls;

/* no_alloc.c asks for this; it is absent when nothing is preloaded. */
unsigned long count_malloc_calls(void);
unsigned long count_malloc_calls(void) { return calls; }

void *malloc(size_t size);
void *malloc(size_t size) {
  calls++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size);
void *calloc(size_t count, size_t size) {
  calls++;
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size);
void *realloc(void *block, size_t size) {
  calls++;
  return __libc_realloc(block, size);
}

void free(void *block);
void free(void *block) {
  calls++;
  __libc_free(block);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
  calls++;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size) {
  calls++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size);
int posix_memalign(void **block, size_t alignment, size_t size) {
  calls++;
  void *made = __libc_memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}
