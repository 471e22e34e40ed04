# anyshmem_add_kernels(target files...) and anyshmem_add_program(...): see tools/shmem-cc.
