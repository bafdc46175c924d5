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

set(SYMPROF_TORCH ${SYMPROF_DEPS}/torch CACHE PATH "The folder of LibTorch: it holds include/ and lib/. OFF: what needs no LibTorch is built")
if(SYMPROF_TORCH)
  include(${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake)
endif()
