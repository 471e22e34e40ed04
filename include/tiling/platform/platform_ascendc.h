// What a host program may ask about the chip: cores and memory sizes of the device that this build
// emulates.
#ifndef SYMM_TILING_PLATFORM_ASCENDC_H
#define SYMM_TILING_PLATFORM_ASCENDC_H

#include <cstdint>

#include "ascendc/core_abi.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B = 1,
  ASCEND310P = 2,
  ASCEND310B = 3,
  ASCEND910_95 = 4,
  RESERVED_VERSION = 99999
};

class PlatformAscendC {
 public:
  PlatformAscendC() = default;

  uint32_t GetCoreNum() const { return GetCoreNumAiv(); }
  uint32_t GetCoreNumAiv() const { return symm_rt_vector_cores(); }
  uint32_t GetCoreNumAic() const { return (GetCoreNumAiv() + 1) / 2; }
  uint32_t GetCoreNumVector() const { return 0; }
  SocVersion GetSocVersion() const {
    return kNewer ? SocVersion::ASCEND910_95 : SocVersion::ASCEND910B;
  }

  // Bytes of one memory; 0 for kinds that this device does not have.
  void GetCoreMemSize(const CoreMemType& type, uint64_t& size) const {
    switch (type) {
      case CoreMemType::UB:
        size = (kNewer ? 256 : 192) * uint64_t{1024};
        return;
      case CoreMemType::L1:
        size = 512 * uint64_t{1024};
        return;
      case CoreMemType::L0_A:
      case CoreMemType::L0_B:
        size = 64 * uint64_t{1024};
        return;
      case CoreMemType::L0_C:
        size = (kNewer ? 256 : 128) * uint64_t{1024};
        return;
      default:
        size = 0;
    }
  }
  uint32_t GetLibApiWorkSpaceSize() const { return 16 * 1024 * 1024; }
  uint32_t CalcTschBlockDim(uint32_t slices, uint32_t, uint32_t) const { return slices; }

 private:
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
  static constexpr bool kNewer = true;
#else
  static constexpr bool kNewer = false;
#endif
};

class PlatformAscendCManager {
 public:
  // One per process; never null.
  static PlatformAscendC* GetInstance() {
    static PlatformAscendC platform;
    return &platform;
  }
  static PlatformAscendC* GetInstance(const char*) { return GetInstance(); }
};

}  // namespace platform_ascendc

#endif
