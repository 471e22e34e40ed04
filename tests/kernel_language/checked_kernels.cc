#include "checked_kernels.h"

#include "kernel_operator.h"

using namespace AscendC;  // NOLINT: as kernels do
using symm::kernel_test::Checked;

__aicore__ inline void flags(Checked what) {
  switch (what) {
    case Checked::kFine:
      for (int i = 0; i < 8; ++i) {
        SetFlag<HardEvent::MTE2_V>(i);
        set_flag(PIPE_V, PIPE_MTE3, i);
      }
      for (int i = 0; i < 8; ++i) {
        WaitFlag<HardEvent::MTE2_V>(i);
        wait_flag(PIPE_V, PIPE_MTE3, i);
      }
      break;
    case Checked::kFlagSetTwice:
      SetFlag<HardEvent::MTE3_V>(EVENT_ID2);
      SetFlag<HardEvent::MTE3_V>(EVENT_ID2);
      break;
    case Checked::kFlagNeverSet:
      WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
      break;
    case Checked::kFlagOfAnotherEvent:
      SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
      WaitFlag<HardEvent::MTE3_V>(EVENT_ID1);
      break;
    case Checked::kRawFlagNeverSet:
      wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
      break;
    case Checked::kBadEventId:
      SetFlag<HardEvent::V_S>(8);
      break;
    case Checked::kReservedFlag:
      CrossCoreSetFlag<0, PIPE_MTE3>(12);
      break;
    default:
      ASCENDC_ASSERT(what == Checked::kFine, "the text is for the reader");
  }
}

__aicore__ inline void memory(Checked what, GM_ADDR gm) {
  LocalTensor<int32_t> tensor(TPosition::VECCALC, 1024, 16);
  GlobalTensor<int32_t> source;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(gm));
  switch (what) {
    case Checked::kMisalignedCopy:
      DataCopy(LocalTensor<int32_t>(TPosition::VECCALC, 4, 16), source, 8);
      break;
    case Checked::kElementBeyondTensor:
      tensor.SetValue(16, 1);
      break;
    case Checked::kElementBeyondBuffer:
      tensor.address_.dataLen = 0;
      tensor.SetValue(191 * 1024 / 4, 1);
      break;
    case Checked::kElementFarOutside:
      tensor.address_.dataLen = 0;
      tensor.SetValue(uint64_t{1} << 62, 1);
      break;
    case Checked::kSubTensorOutside:
      (void)tensor[192 * 1024 / 4];
      break;
    case Checked::kPointerBeyondBuffer: {
      auto* pointer = reinterpret_cast<__ubuf__ int32_t*>(uint64_t{192 * 1024});
      *pointer = 1;
      break;
    }
    default:
      flags(what);
  }
}

[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void checked(int what, GM_ADDR gm) {
  memory(static_cast<Checked>(what), gm);
}

namespace symm::kernel_test {

void launch_checked(aclrtStream stream, Checked what, uint8_t* memory) {
  checked<<<1, nullptr, stream>>>(static_cast<int>(what), memory);
}

}  // namespace symm::kernel_test
