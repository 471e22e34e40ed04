// Cycle profiles of kernels.
#include <cstdio>
#include <string>

#include "acl/acl.h"
#include "capi/edge.h"
#include "host/utils/shmem_log.h"

namespace symm::capi {
namespace {

// Ticks of a kernel's clock per microsecond, as on the chip that the runtime reports.
double ticks_per_us() {
  const char* chip = aclrtGetSocName();
  return chip != nullptr && std::string(chip).find("Ascend950") != std::string::npos ? 1000 : 50;
}

void print(const aclshmem_prof_pe_t& profile) {
  const std::string rule(66, '-');
  std::string text = fmt::format("{}\n{:>8} {:>8} {:>16} {:>12} {:>14}\n{}\n", rule, "BlockID",
                                 "FrameID", "Cycles", "Count", "AvgTime(us)", rule);
  const double rate = ticks_per_us();
  for (int block = 0; block < ACLSHMEM_CYCLE_PROF_MAX_BLOCK; ++block) {
    const aclshmem_prof_block_t& counts = profile.block_prof[block];
    for (int frame = 0; frame < ACLSHMEM_CYCLE_PROF_FRAME_CNT; ++frame) {
      if (counts.ccount[frame] <= 0) continue;
      const double average = static_cast<double>(counts.cycles[frame]) /
                             static_cast<double>(counts.ccount[frame]) / rate;
      text += fmt::format("{:>8} {:>8} {:>16} {:>12} {:>14.3f}\n", block, frame,
                          counts.cycles[frame], counts.ccount[frame], average);
    }
  }
  text += rule + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Status profile(Instance& instance, aclshmem_prof_pe_t** out, bool verbose) {
  if (out == nullptr && !verbose) return {};
  const aclshmem_prof_pe_t* counters = instance.device().snapshot_profile();
  if (counters == nullptr) return {};
  if (out != nullptr) *out = const_cast<aclshmem_prof_pe_t*>(counters);
  if (verbose) print(*counters);
  return {};
}

}  // namespace
}  // namespace symm::capi

void aclshmemx_show_prof(void) { aclshmemx_get_prof(nullptr, true); }

void aclshmemx_get_prof(aclshmem_prof_pe_t** out_profs, bool verbose) {
  symm::capi::with_instance("aclshmemx_get_prof", [&](symm::Instance& instance) {
    return symm::capi::profile(instance, out_profs, verbose);
  });
}
