// The functions of the CUDA runtime that launch, copy, fill and wait, in front of
// ../h200/fake_gpu.cpp, which answers all others.
//
// kernel<<<grid, block, shared, stream>>>() of CUDA 13 compiles to __cudaPushCallConfiguration,
// then inside of the host's stub to __cudaGetKernel (once), __cudaPopCallConfiguration and
// __cudaLaunchKernel. __cudaRegisterFunction runs from static constructors, once for each kernel.
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "operations.h"
#include "records.h"

namespace {

using fake::Api;
using fake::Operation;

struct Names {
  std::mutex mutex;
  std::unordered_map<const void*, const char*> of_stub;  ///< Mangled, by the host's function.
  std::deque<std::string> loaded;                        ///< By cudaLibraryGetKernel.
};
Names& names() {
  static Names& made = *new Names;
  return made;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

std::uint64_t handle_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

cudaError_t launch(const void* function, dim3 grid, dim3 block, std::size_t shared_bytes,
                   cudaStream_t stream, int cbid) {
  Operation operation{.name = "unknown kernel",
                      .grid = {grid.x, grid.y, grid.z},
                      .block = {block.x, block.y, block.z},
                      .dynamic_shared_bytes = shared_bytes,
                      .stream = handle_of(stream)};
  {
    const std::lock_guard lock(names().mutex);
    if (const auto name = names().of_stub.find(function); name != names().of_stub.end())
      operation.name = name->second;
  }
  fake::run(operation, {.cbid = cbid});
  return cudaSuccess;
}

cudaError_t transfer(Operation::Kind kind, const char* name, std::size_t bytes, int copy_kind,
                     cudaStream_t stream, int cbid) {
  fake::run({.kind = kind,
             .name = name,
             .bytes = bytes,
             .copy_kind = copy_kind,
             .stream = handle_of(stream)},
            {.cbid = cbid});
  return cudaSuccess;
}

cudaError_t wait(int cbid) {
  fake::launch({}, {.cbid = cbid});
  fake::cupti_wait();
  return cudaSuccess;
}

/// What the host reads of this GPU is 0.
void answer(void* to, std::size_t bytes, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDeviceToHost) std::memset(to, 0, bytes);
}

template <class Handle>
cudaError_t make_handle(Handle* made, std::uint64_t first) {
  static std::uint64_t next = 0;
  *made = reinterpret_cast<Handle>(first + next++);
  return cudaSuccess;
}

using Graph = std::vector<Operation>;
std::atomic<unsigned long long> captures =
    0;  ///< Begun so far: the last one's id, which no other has.

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle[1];
  return handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  const std::lock_guard lock(names().mutex);
  names().of_stub[stub] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (configurations.empty()) return cudaErrorInvalidConfiguration;
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, grid, block, shared_bytes, stream,
                CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(function, grid, block, shared_bytes, stream,
                CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void**,
                                        std::size_t shared_bytes, cudaStream_t stream) {
  return launch(function, grid, block, shared_bytes, stream,
                CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void**) {
  return launch(function, how->gridDim, how->blockDim, how->dynamicSmemBytes, how->stream,
                CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060);
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void*, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return make_handle(library, 0x1000);
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char* name) {
  const std::lock_guard lock(names().mutex);
  const std::string& kept = names().loaded.emplace_back(name);
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<std::string*>(&kept));
  names().of_stub[&kept] = kept.c_str();
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void*, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  answer(to, bytes, kind);
  return transfer(Operation::Kind::copy, "cudaMemcpyAsync", bytes, kind, stream,
                  CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
}
cudaError_t cudaMemcpy(void* to, const void*, std::size_t bytes, cudaMemcpyKind kind) {
  answer(to, bytes, kind);
  transfer(Operation::Kind::copy, "cudaMemcpy", bytes, kind, nullptr,
           CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020);
  fake::cupti_wait();
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t bytes, cudaStream_t stream) {
  return transfer(Operation::Kind::set, "cudaMemsetAsync", bytes, 0, stream,
                  CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020);
}
cudaError_t cudaMemset(void*, int, std::size_t bytes) {
  return transfer(Operation::Kind::set, "cudaMemset", bytes, 0, nullptr,
                  CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return make_handle(stream, 0x1000);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new std::uint64_t(0));
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<std::uint64_t*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  *reinterpret_cast<std::uint64_t*>(event) = fake::busy_ns(handle_of(stream));
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  const auto at = [](cudaEvent_t event) { return *reinterpret_cast<const std::uint64_t*>(event); };
  *ms = static_cast<float>(static_cast<double>(at(end) - at(begin)) / 1e6);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return wait(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return wait(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  ++captures;
  fake::begin_capture(handle_of(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(new Graph(fake::end_capture(handle_of(stream))));
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = fake::is_capturing(handle_of(stream)) ? cudaStreamCaptureStatusActive
                                                  : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                     std::size_t* count) {
  if (id != nullptr) *id = captures.load();
  if (graph != nullptr) *graph = nullptr;
  if (count != nullptr) *count = 0;
  return cudaStreamIsCapturing(stream, status);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  *count = reinterpret_cast<const Graph*>(graph)->size();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                          unsigned long long) {
  *made = reinterpret_cast<cudaGraphExec_t>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  Graph nodes = *reinterpret_cast<const Graph*>(graph);
  for (Operation& node : nodes) node.stream = handle_of(stream);
  fake::launch(std::move(nodes), {.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000});
  return cudaSuccess;
}
}
