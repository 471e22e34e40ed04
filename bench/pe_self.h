/* What this process costs, as one line: resident and proportional memory in KiB, descriptors,
   threads. Plain C, since the programs of other libraries use it too. */
#ifndef BENCH_PE_SELF_H
#define BENCH_PE_SELF_H

#include <dirent.h>
#include <stdio.h>

static int entries_of(const char* path) {
  int count = 0;
  DIR* folder = opendir(path);
  if (folder == NULL) return -1;
  for (struct dirent* one = readdir(folder); one != NULL; one = readdir(folder)) {
    if (one->d_name[0] != '.') ++count;
  }
  closedir(folder);
  return count;
}

static void print_cost_of_this_process(void) {
  long rss = 0;
  long pss = 0;
  char line[256];
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    sscanf(line, "Rss: %ld", &rss);
    sscanf(line, "Pss: %ld", &pss);
  }
  if (file != NULL) fclose(file);
  /* One descriptor is the folder itself, while it is read. */
  printf("pe_cost %ld %ld %d %d\n", rss, pss, entries_of("/proc/self/fd") - 1,
         entries_of("/proc/self/task"));
  fflush(stdout);
}

#endif
