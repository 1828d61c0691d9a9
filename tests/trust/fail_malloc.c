/* An allocator that can be told to fail, and that counts what is alive: a library to be linked before all others.
 *
 * Told to fail, it refuses the n-th request of the calling thread, alone or with all that follow: malloc, calloc,
 * realloc, aligned_alloc, memalign, posix_memalign, mmap, and pthread_create, which maps a stack by a call that
 * does not come through here. glibc's own names are used rather than dlsym, which itself allocates. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fail_malloc.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* Blocks that are alive in the whole process. */
static atomic_long live;

/* Initial-exec: the first use must not allocate. */
static __thread __attribute__((tls_model("initial-exec"))) unsigned long requests, first_to_fail;
static __thread __attribute__((tls_model("initial-exec"))) int all_that_follow;

long fail_malloc_live(void) { return live; }
unsigned long fail_malloc_requests(void) { return requests; }

void fail_malloc_at(unsigned long n, int follow) {
  requests = 0;
  first_to_fail = n;
  all_that_follow = follow;
}

static int refused(void) {
  requests++;
  if (first_to_fail == 0 || requests < first_to_fail) return 0;
  if (requests > first_to_fail && !all_that_follow) return 0;
  errno = ENOMEM;
  return 1;
}

static void *counted(void *block) {
  if (block != NULL) live++;
  return block;
}

void *malloc(size_t size) { return refused() ? NULL : counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return refused() ? NULL : counted(__libc_calloc(count, size)); }

void *realloc(void *block, size_t size) {
  if (refused()) return NULL;
  void *made = __libc_realloc(block, size);
  if (block == NULL && made != NULL) live++;
  if (block != NULL && made == NULL && size == 0) live--;
  return made;
}

void free(void *block) {
  if (block != NULL) live--;
  __libc_free(block);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) { return refused() ? NULL : counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) {
  return refused() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (refused()) return ENOMEM;
  void *made = counted(__libc_memalign(alignment, size));
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  if (refused()) return MAP_FAILED;
  long made = syscall(SYS_mmap, at, size, protection, flags, file, offset);
  return made == -1 ? MAP_FAILED : (void *)made;
}

/* It has no other name; it is looked up before anything fails. */
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((constructor)) static void look_up(void) {
  void *found = dlsym(RTLD_NEXT, "pthread_create");
  memcpy(&real_pthread_create, &found, sizeof found);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  return refused() ? EAGAIN : real_pthread_create(thread, attributes, body, argument);
}
