// The work of bench_small as an OpenSHMEM program: "name nanoseconds" lines, medians of rounds in
// turns.
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kWords = 64, kRows = 10, kRounds = 21 };

static int64_t* words;
static int64_t value;
static volatile int64_t sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static const char* const names[kRows] = {
    "put", "p", "get", "g", "add", "inc", "fetch_add", "swap", "compare_swap", "put_rate"};

static void run(int row, int count) {
  for (int i = 0; i < count; ++i) {
    int64_t* word = words + (i & (kWords - 1));
    switch (row) {
      case 0:
        value = i;
        shmem_putmem(word, &value, 8, 1);
        break;
      case 1:
        shmem_long_p((long*)word, i, 1);
        break;
      case 2:
        shmem_getmem(&value, word, 8, 1);
        break;
      case 3:
        sink = shmem_long_g((long*)word, 1);
        break;
      case 4:
        shmem_long_atomic_add((long*)word, i, 1);
        break;
      case 5:
        shmem_long_atomic_inc((long*)word, 1);
        break;
      case 6:
        sink = shmem_long_atomic_fetch_add((long*)word, i, 1);
        break;
      case 7:
        sink = shmem_long_atomic_swap((long*)word, i, 1);
        break;
      case 8:
        sink = shmem_long_atomic_compare_swap((long*)word, i, i, 1);
        break;
      default:
        shmem_putmem_nbi(word, &value, 8, 1);
        break;
    }
  }
  if (row == kRows - 1) shmem_quiet();
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 100000;
  static double times[kRows][kRounds];
  shmem_init();
  words = shmem_align(64, kWords * sizeof(int64_t));
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    for (int round = 0; round < kRounds; ++round) {
      for (int row = 0; row < kRows; ++row) {
        double start = now();
        run(row, count);
        times[row][round] = (now() - start) * 1e9 / count;
      }
    }
    for (int row = 0; row < kRows; ++row) {
      qsort(times[row], kRounds, sizeof(double), compare);
      double middle = times[row][kRounds / 2];
      printf("%s %.3f\n", names[row], row == kRows - 1 ? 1e3 / middle : middle);
    }
    fflush(stdout);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
