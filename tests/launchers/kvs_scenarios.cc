// kvs_scenarios PLUGIN SCENARIO PE: uses of the PMI and PMIx plug-ins. PE is the name of the
// variable that holds the number of this process.
#include <unistd.h>

#include <cstdlib>

#include "plugin_harness.h"

namespace {

using harness::expect;
using harness::Handle;

int many(const symm_bootstrap_table* table) {
  for (int round = 0; round < 30; ++round) {
    Handle one;
    one.open(table, harness::unset_config());
    expect(one.code == 0, one.error);
    if (one.code != 0) return 1;
    expect(one.barrier("round"), one.error);
    table->close(one.handle);
  }
  return harness::finish();
}

int two_at_once(const symm_bootstrap_table* table) {
  Handle one;
  Handle two;
  one.open(table, harness::unset_config());
  two.open(table, harness::unset_config());
  expect(one.code == 0 && two.code == 0, "open twice");
  harness::exercise(two);
  harness::exercise(one);
  table->close(one.handle);
  harness::exercise(two);
  table->close(two.handle);
  return harness::finish();
}

int wrong_attributes(const symm_bootstrap_table* table, int pe) {
  symm_bootstrap_config config = harness::unset_config();
  config.pe = 0;
  config.n_pes = 3;
  Handle one;
  one.open(table, config);
  one.pe = pe;
  expect(one.code == -1, "B6: every PE gets the error");
  one.print_error("open");
  return harness::finish();
}

// The last PE never comes; the test ends the job.
int absent(const symm_bootstrap_table* table, int pe) {
  if (pe != 2) {
    symm_bootstrap_config config = harness::unset_config();
    config.connect_timeout_s = 1;
    Handle one;
    one.open(table, config);
    one.pe = pe;
    one.print_error("open");
  }
  for (;;) ::pause();
}

int exit_all(const symm_bootstrap_table* table) {
  Handle one;
  one.open(table, harness::unset_config());
  if (one.pe == 1) table->global_exit(one.handle, 7, one.error, sizeof(one.error));
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const symm_bootstrap_table* table = harness::load(argv[1]);
  const char* number = std::getenv(argv[3]);
  if (table == nullptr || number == nullptr) return 1;
  const int pe = std::atoi(number);
  const std::string scenario = argv[2];
  if (scenario == "many") return many(table);
  if (scenario == "two-at-once") return two_at_once(table);
  if (scenario == "wrong-attributes") return wrong_attributes(table, pe);
  if (scenario == "absent") return absent(table, pe);
  if (scenario == "exit-all") return exit_all(table);
  return 2;
}
