// Answers of NVIDIA's libraries without which PyTorch's host code does not go on, beside those of
// ../h200/fake_gpu.cpp. fakes.py adds the functions that only succeed, and those that would run
// kernels.
#include <cstdint>
#include <cstring>
#include <map>

#include "operations.h"

namespace {

void* next_handle() {
  static char handles[1 << 16];
  static unsigned made = 0;
  return &handles[made++ % sizeof handles];
}
int make(void** handle) {
  *handle = next_handle();
  return 0;
}
int on_stream(const void* stream) {
  fake::set_library_stream(stream);
  return 0;
}
int no_bytes(std::size_t* bytes) {
  *bytes = 0;
  return 0;
}
int one_byte(std::size_t* bytes) {
  *bytes = 1;
  return 0;
}

/// Of a matrix of cuBLASLt.
struct Layout {
  std::uint64_t rows = 0, columns = 0;
};
std::map<const void*, Layout>& layouts() {
  static auto& made = *new std::map<const void*, Layout>;
  return made;
}

}  // namespace

extern "C" {

// A library runs on the stream that its handle was given last; PyTorch gives it before each call.
int cublasSetStream_v2(void*, void* stream) { return on_stream(stream); }
int cudnnSetStream(void*, void* stream) { return on_stream(stream); }
int cusparseSetStream(void*, void* stream) { return on_stream(stream); }
int cusolverDnSetStream(void*, void* stream) { return on_stream(stream); }
int cufftSetStream(int, void* stream) { return on_stream(stream); }

int cublasLtMatrixLayoutCreate(void** made, int, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t) {
  make(made);
  layouts()[*made] = {rows, columns};
  return 0;
}
int cublasLtMatmul(void*, void*, const void*, const void*, void* a, const void*, void*, const void*,
                   const void*, void*, void*, void* d, const void*, void*, std::size_t,
                   void* stream) {
  on_stream(stream);
  const Layout out = layouts()[d], first = layouts()[a];
  const std::uint64_t k = first.rows == out.rows ? first.columns : first.rows;
  return fake::run_library_call("cublasLtMatmul", static_cast<unsigned>(out.rows),
                                static_cast<unsigned>(out.columns), static_cast<unsigned>(k));
}

std::size_t cudnnGetVersion() { return 92000; }
std::size_t cudnnGetCudartVersion() { return 13000; }
const char* cudnnGetErrorString(int) { return "an error of the fake cuDNN"; }
int cudnnGetProperty(int which, int* value) {  // Major, minor, patch.
  constexpr int version[] = {9, 20, 0};
  *value = version[which % 3];
  return 0;
}
int cudnnCreate(void** handle) { return make(handle); }
int cudnnBackendCreateDescriptor(int, void** descriptor) { return make(descriptor); }
// Convolutions ask a heuristic: it finds one engine, whose plan needs no workspace. The numbers of
// attributes are those of cudnn_graph.h.
int cudnnBackendGetAttribute(void*, int attribute, int, std::int64_t, std::int64_t* count,
                             void* values) {
  constexpr int engines_found = 202, engine_of_config = 300, workspace_of_config = 303;
  constexpr int workspace_of_plan = 402, engine_index = 1301;
  const bool is_number = attribute == workspace_of_config || attribute == workspace_of_plan ||
                         attribute == engine_index;
  const bool is_known = is_number || attribute == engines_found || attribute == engine_of_config;
  if (count != nullptr) *count = is_known ? 1 : 0;
  if (values != nullptr && is_number) std::memset(values, 0, sizeof(std::int64_t));
  return 0;
}
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void*, int, int, void*, void*, void*,
                                                             void*, void*, std::size_t* bytes) {
  return no_bytes(bytes);
}
int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, void*, void*, void*, void*,
                                                      void*, void*, void*, std::size_t* bytes) {
  return no_bytes(bytes);
}
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int, void*, void*,
                                                         std::size_t* bytes) {
  return no_bytes(bytes);
}

// Any program compiles to nothing; its kernel has the name that was asked for.
int nvrtcCreateProgram(void** program, const char*, const char*, int, const void*, const void*) {
  return make(program);
}
int nvrtcGetCUBINSize(void*, std::size_t* bytes) { return one_byte(bytes); }
int nvrtcGetPTXSize(void*, std::size_t* bytes) { return one_byte(bytes); }
int nvrtcGetProgramLogSize(void*, std::size_t* bytes) { return one_byte(bytes); }
int nvrtcGetLoweredName(void*, const char* name, const char** lowered) {
  *lowered = name;
  return 0;
}
int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
}
