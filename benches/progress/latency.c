/* latency NEW OLD CALLS SECONDS: how long the slowest of many calls take, and whose fault that is, as Markdown.

   One matrix a call, n = 20, k = 3, f32, on a CPU of its own, with the other CPU idle and then with a process on it
   that streams through memory. Libraries take turns in blocks. A third subject is no library at all: a chain of
   multiplications that takes as long as a call, touches no memory and calls nobody. What delays the chain is the
   machine's: interrupts, other virtual machines, the scheduler. */

#define _GNU_SOURCE

#include "library.h"
#include "measure.h"
#include "turns.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 20, K = 3, RING = 64, BLOCKS = 50 };

static struct library libraries[2];
static denise_model *models[2];
static float *ring, *l, *s;
static size_t place, chain_length;
static cpu_set_t allowed;

static void chain(void) {
  double x = 1.0;
  for (size_t i = 0; i < chain_length; i++) {
    x *= 0.999999;
    __asm__ volatile("" : "+x"(x));
  }
}

/* Subjects 0 and 1 are the libraries, 2 is the chain. */
static void act(size_t who) {
  if (who == 2) {
    chain();
    return;
  }
  place = (place + 1) % RING;
  if (libraries[who].decompose(models[who], 1, ring + place * N * N, NULL, l, s, NULL) != DENISE_OK) {
    fail("denise_decompose_batch", "not DENISE_OK");
  }
}

/* In blocks as they will be timed; the chain as it is, however long. */
static double usual(size_t who) {
  enum { CALLS = 2001 };
  static double times[CALLS];
  double start = now();
  for (size_t i = 0; i < CALLS; i++) {
    act(who);
    double end = now();
    times[i] = end - start;
    start = end;
  }
  return median(times, CALLS);
}

/* Makes the chain as long as a call: from two lengths, since reading the clock takes time as well. */
static void calibrate(void) {
  double wanted = usual(0);
  chain_length = 1000;
  double shorter = usual(2);
  chain_length = 5000;
  double each = (usual(2) - shorter) / 4000.0;
  double length = 1000.0 + (wanted - shorter) / each;
  chain_length = length > 1.0 ? (size_t)length : 1;
}

struct seen {
  double *times;
  long faults, switches;
};

static struct rusage usage(void) {
  struct rusage found;
  getrusage(RUSAGE_THREAD, &found);
  return found;
}

static void block(size_t who, struct seen *seen, size_t first, size_t calls) {
  struct rusage before = usage();
  double start = now();
  for (size_t i = 0; i < calls; i++) {
    act(who);
    double end = now();
    seen->times[first + i] = end - start;
    start = end;
  }
  struct rusage after = usage();
  seen->faults += after.ru_minflt - before.ru_minflt;
  seen->switches += after.ru_nivcsw - before.ru_nivcsw;
}

/* Reads and writes more memory than the caches hold, for ever. */
static pid_t busy_process(void) {
  pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(&allowed, 1);
  size_t len = (size_t)64 << 20;
  volatile unsigned char *all = malloc(len);
  for (unsigned char value = 0; all != NULL; value++) {
    for (size_t i = 0; i < len; i += 64) all[i] = value;
  }
  _exit(1);
}

static void table(const char *other, size_t calls) {
  static const char *names[3] = {"now", "0.1.0", "no library: a chain of multiplications"};
  struct seen seen[3];
  calibrate();
  for (size_t who = 0; who < 3; who++) {
    seen[who] = (struct seen){.times = room(calls, sizeof(double))};
    (void)usual(who);
  }
  size_t each = calls / BLOCKS;
  for (size_t b = 0; b < BLOCKS; b++) {
    for (size_t i = 0; i < 3; i++) block((b + i) % 3, &seen[(b + i) % 3], b * each, each);
  }
  for (size_t who = 0; who < 3; who++) {
    double *times = seen[who].times;
    size_t count = each * BLOCKS;
    double p50 = median(times, count);
    printf("| %s | %s | %.2f | %.2f | %.2f | %.2f | %.0f | %ld | %ld |\n", other, names[who], p50,
           percentile(times, count, 0.99), percentile(times, count, 0.999), percentile(times, count, 0.9999),
           times[count - 1], seen[who].faults, seen[who].switches);
    free(times);
  }
  fflush(stdout);
}

/* Kinds of matrices whose layers meet numbers near zero, by what they are made of. */
static void fill(double *m, size_t count, unsigned rank, int sparse, double scale) {
  uint64_t state = 5;
  for (size_t i = 0; i < count; i++) covariance(m + i * N * N, N, rank, sparse, &state);
  for (size_t i = 0; i < count * N * N; i++) m[i] *= scale;
}

static void kinds(size_t batch, int precise, double budget) {
  static const struct {
    const char *name;
    unsigned rank;
    int sparse;
    double scale, scale_f64;
  } all[] = {{"ordinary", 3, 1, 1.0, 1.0},
             {"S is zero", 3, 0, 1.0, 1.0},
             {"rank one, S is zero", 1, 0, 1.0, 1.0},
             {"times 1e-30", 3, 1, 1e-30, 1e-30},
             {"squares are subnormal", 3, 1, 1e-20, 1e-155},
             {"entries are subnormal", 3, 1, 1e-41, 1e-311},
             {"zero", 3, 1, 0.0, 0.0}};
  enum { KINDS = sizeof all / sizeof all[0] };
  static struct subject subjects[KINDS];
  static double m[KINDS][RING * N * N];
  static float narrow[KINDS][RING * N * N];
  struct results out = {room(RING * N * N, sizeof(double)), room(RING * N * N, sizeof(double))};
  for (size_t i = 0; i < KINDS; i++) {
    fill(m[i], RING, all[i].rank, all[i].sparse, precise ? all[i].scale_f64 : all[i].scale);
    for (size_t j = 0; j < RING * N * N; j++) narrow[i][j] = (float)m[i][j];
    subjects[i] = (struct subject){.library = &libraries[0], .model = models[0], .n = N, .batch = batch};
    subjects[i].precise = precise;
    subjects[i].count = RING;
    subjects[i].m = precise ? (const void *)m[i] : (const void *)narrow[i];
  }
  size_t rounds = turns(subjects, KINDS, out, budget, NULL);
  for (size_t i = 1; i < KINDS; i++) {
    printf("| %s | %s | %zu | %.2f |\n", all[i].name, precise ? "f64" : "f32", batch,
           ratio(&subjects[i], &subjects[0], rounds));
  }
  fflush(stdout);
  free(out.l);
  free(out.s);
}

int main(int count, char **arguments) {
  if (count != 5) fail(arguments[0], "expected NEW OLD CALLS SECONDS");
  size_t calls = strtoul(arguments[3], NULL, 10);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("sched_getaffinity", "failed");
  pin(&allowed, 0);
  l = room(N * N, sizeof *l);
  s = room(N * N, sizeof *s);
  ring = room(RING * N * N, sizeof *ring);
  double *m = room(RING * N * N, sizeof *m);
  fill(m, RING, K, 1, 1.0);
  for (size_t i = 0; i < RING * N * N; i++) ring[i] = (float)m[i];
  for (size_t i = 0; i < 2; i++) {
    libraries[i] = library_open(arguments[1 + i]);
    models[i] = library_load(&libraries[i], NULL, library_options(&libraries[i], N, K));
  }

  printf("### Latency\n\n");
  printf("Microseconds of a call of one matrix, n = %d, k = %d, f32, %zu calls each.\n", N, K, calls);
  printf("Reading the clock is included.\n");
  printf("The last row of three is the machine: it has no memory to touch and nobody to call.\n\n");
  printf("| other CPU | what runs | p50 | p99 | p99.9 | p99.99 | largest | page faults | involuntary switches |\n");
  printf("|---|---|---|---|---|---|---|---|---|\n");
  table("idle", calls);
  pid_t busy = CPU_COUNT(&allowed) > 1 ? busy_process() : -1;
  if (busy > 0) {
    table("busy", calls);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
  }

  printf("\nTime of a call beside that for ordinary matrices.\n");
  printf("Above 1 would be numbers that the processor is slow with.\n\n");
  printf("| matrices | precision | batch | time / ordinary |\n|---|---|---|---|\n");
  for (int precise = 0; precise < 2; precise++) {
    kinds(1, precise, 1e6 * atof(arguments[4]));
    kinds(RING, precise, 1e6 * atof(arguments[4]));
  }
  printf("\n");
  return 0;
}
