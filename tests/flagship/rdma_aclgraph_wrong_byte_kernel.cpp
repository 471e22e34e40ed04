#include "wrong_byte.h"
// The kernels of the example, with its put replaced.
#include "../../examples/rdma_aclgraph/rdma_aclgraph_kernel.cpp"
