# The wheel ships protobuf 3.13 and fmt 12 headers of its own: first/ holds links to Debian's. Of LibTorch what every
# build has is linked. A CUDA build's kernels are loaded when a GPU is asked for (base/cuda_kernels.h): one program
# serves both, and no CUDA toolkit is wanted here.
set(symprof_torch_folder ${SYMPROF_TORCH})
file(STRINGS ${symprof_torch_folder}/include/torch/headeronly/version.h numbers REGEX "^#define TORCH_VERSION_(MAJOR|MINOR) ")
list(TRANSFORM numbers REPLACE ".* " "")
list(JOIN numbers . symprof_torch_version)
list(GET numbers 1 symprof_torch_minor)
add_library(symprof_libtorch INTERFACE)
target_include_directories(symprof_libtorch BEFORE INTERFACE ${SYMPROF_DEPS}/first)
target_include_directories(symprof_libtorch SYSTEM INTERFACE
  ${symprof_torch_folder}/include ${symprof_torch_folder}/include/torch/csrc/api/include)
target_link_libraries(symprof_libtorch INTERFACE
  ${symprof_torch_folder}/lib/libtorch_cpu.so ${symprof_torch_folder}/lib/libc10.so)
target_compile_options(symprof_libtorch INTERFACE -Wno-deprecated-declarations)
