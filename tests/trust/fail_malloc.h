/* What fail_malloc.c offers to the program that is linked with it. */
#ifndef DENISE_FAIL_MALLOC_H
#define DENISE_FAIL_MALLOC_H

/* The n-th request of this thread from now on fails (and, if asked, all that follow); 0: none. */
void fail_malloc_at(unsigned long n, int follow);
/* Requests of this thread since then. */
unsigned long fail_malloc_requests(void);
/* Blocks that are alive in the whole process. */
long fail_malloc_live(void);

#endif
