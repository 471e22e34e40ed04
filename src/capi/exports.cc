// libshmem.so is the whole archives symm_capi and symm_impl; this file gives the shared library a
// source of its own.
