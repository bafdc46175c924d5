# Everything that is not ours. scripts/setup.sh puts LibTorch and onnx into .deps/.
set(SYMPROF_DEPS ${CMAKE_CURRENT_SOURCE_DIR}/.deps CACHE PATH "Where scripts/setup.sh puts its results")

# pip's build has no make before it.
if(SKBUILD AND NOT EXISTS ${SYMPROF_DEPS}/torch)
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

set(TORCH_CUDA_ARCH_LIST 9.0)  # Only asked for by a CUDA build's TorchConfig; we compile no kernels.
find_package(Torch REQUIRED PATHS ${SYMPROF_DEPS}/torch NO_DEFAULT_PATH)

# The wheel ships protobuf 3.13 and fmt 12 headers of its own: first/ holds links to Debian's.
add_library(symprof_libtorch INTERFACE)
target_include_directories(symprof_libtorch BEFORE INTERFACE ${SYMPROF_DEPS}/first)
target_link_libraries(symprof_libtorch INTERFACE ${TORCH_LIBRARIES})
target_compile_options(symprof_libtorch INTERFACE -Wno-deprecated-declarations)
if(TARGET torch_cuda)  # The real device guard and CUDA hooks are there: ours stay out.
  target_compile_definitions(symprof_libtorch INTERFACE SYMPROF_LIBTORCH_HAS_CUDA)
endif()
