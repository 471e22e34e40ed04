#include "wrong_byte.h"
// The kernels of the example, with its put replaced.
#include "../../examples/aclgraph_signal/aclgraph_signal_kernel.cpp"
