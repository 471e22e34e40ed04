// libascendcl.so is the whole archive symm_runtime; this file gives the shared library a source of
// its own.
