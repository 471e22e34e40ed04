// A plug-in of another ABI, for the loader's test.
#include "bootstrap/plugin_abi.h"

static const symm_bootstrap_table kTable = {99,      sizeof(symm_bootstrap_table),
                                            "other", nullptr,
                                            nullptr, nullptr,
                                            nullptr, nullptr,
                                            nullptr, nullptr,
                                            nullptr, nullptr,
                                            nullptr, nullptr,
                                            nullptr};

extern "C" __attribute__((visibility("default"))) const symm_bootstrap_table* symm_bootstrap_plugin(
    void) {
  return &kTable;
}
