// plugin_plain PLUGIN: a program that knows nothing of MPI or PMIx opens the plug-in, makes every
// step and closes.
#include "plugin_harness.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const symm_bootstrap_table* table = harness::load(argv[1]);
  if (table == nullptr) return 1;
  harness::Handle one;
  one.open(table, harness::unset_config());
  if (one.code != 0) {
    one.print_error("open");
    return 1;
  }
  harness::exercise(one);
  std::printf("PE %d of %d\n", one.pe, one.n_pes);
  table->close(one.handle);
  return harness::finish();
}
