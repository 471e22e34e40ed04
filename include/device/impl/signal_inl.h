// Internal to the kernel side: put, then signal. The signal becomes visible after the data in every
// form.
#ifndef SYMM_DEVICE_SIGNAL_INL_H
#define SYMM_DEVICE_SIGNAL_INL_H

#include "device/impl/p2p_inl.h"
#include "device/impl/rma_inl.h"

namespace symm_dev {

template <typename T>
inline void put_signal(T* target, const T* source, uint64_t count, int32_t* sig, int32_t value,
                       int sig_op, int pe, const char* call) {
  mte_put(target, source, count, pe, call);
  signal(sig, value, sig_op, pe, call);
}

template <typename T, typename Param>
inline void put_rows_signal(T* target, const T* source, const Param& p, int32_t* sig, int32_t value,
                            int sig_op, int pe, const char* call) {
  mte_put_rows(target, source, p, pe, call);
  signal(sig, value, sig_op, pe, call);
}

}  // namespace symm_dev
#endif
