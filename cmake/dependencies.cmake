# Everything that is not ours. scripts/setup.sh puts LibTorch and onnx into .deps/.
set(SYMPROF_DEPS ${CMAKE_CURRENT_SOURCE_DIR}/.deps CACHE PATH "Where scripts/setup.sh puts its results")

# pip's build has no make before it.
if(SKBUILD AND NOT (EXISTS ${SYMPROF_DEPS}/torch AND EXISTS ${SYMPROF_DEPS}/cuda))
  execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/setup.sh COMMAND_ERROR_IS_FATAL ANY)
endif()

find_package(Boost REQUIRED)  # Headers of Multiprecision alone.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(range-v3 REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)

# Protobuf before Torch: TorchConfig defines an empty protobuf::libprotobuf where the target is missing.
find_package(Protobuf REQUIRED)

add_library(symprof_onnx INTERFACE)
target_include_directories(symprof_onnx SYSTEM INTERFACE ${SYMPROF_DEPS}/onnx-1.23.2/include)
target_compile_definitions(symprof_onnx INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(symprof_onnx INTERFACE
  ${SYMPROF_DEPS}/onnx-1.23.2/lib/libonnx.a ${SYMPROF_DEPS}/onnx-1.23.2/lib/libonnx_proto.a protobuf::libprotobuf)

# The wheel ships protobuf 3.13 and fmt 12 headers of its own: first/ holds links to Debian's. Of LibTorch what every
# build has is linked. A CUDA build's kernels are loaded when a GPU is asked for (base/cuda_kernels.h): one program
# serves both, and no CUDA toolkit is wanted here.
set(SYMPROF_TORCH ${SYMPROF_DEPS}/torch CACHE PATH "The folder of LibTorch: it holds include/ and lib/")
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
