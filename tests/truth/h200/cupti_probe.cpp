// Runs one transformer block forward and backward on cuda:0 and writes CUPTI's raw activity records
// as JSON lines: proof that kernels can be attributed to ATen calls through external correlation
// ids, and a fixture for decoders. cupti_probe.sh builds it; KERNELS.md documents every record.
//
// usage: cupti_probe OUTPUT.jsonl
#include <cupti.h>
#include <sys/utsname.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

namespace {

// Every writer shares one stream: CUPTI delivers buffers on a thread of its own, and backward's
// ATen calls start on autograd's thread.
class Output {
 public:
  explicit Output(const std::string& path) : file_(path) {}
  bool good() const { return file_.good(); }
  void line(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    file_ << text << '\n';
  }

 private:
  std::ofstream file_;
  std::mutex mutex_;
};

Output* output = nullptr;

std::string quoted(const char* text) {
  if (text == nullptr) return "null";
  std::string result = "\"";
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') result += '\\';
    result += static_cast<unsigned char>(*text) < 0x20 ? ' ' : *text;
  }
  return result + '"';
}

// What the records add up to; read only after the last flush.
struct Counts {
  std::map<std::string, uint64_t> records;
  std::set<uint32_t> correlations_with_external_id;
  std::vector<uint32_t> kernel_correlations;
};
Counts counts;

bool report(const char* call, CUptiResult code) {
  const char* text = nullptr;
  cuptiGetResultString(code, &text);
  std::ostringstream line;
  line << R"({"record":"result","call":)" << quoted(call) << R"(,"code":)" << code << R"(,"text":)"
       << quoted(text) << '}';
  output->line(line.str());
  if (code != CUPTI_SUCCESS) {
    std::cerr << "cupti_probe: " << call << ": " << (text ? text : "?") << " (" << code << ")\n";
  }
  return code == CUPTI_SUCCESS;
}

void write_kernel(const CUpti_ActivityKernel10& kernel) {
  std::ostringstream line;
  line << R"({"record":"kernel","name":)" << quoted(kernel.name) << R"(,"start_ns":)"
       << kernel.start << R"(,"end_ns":)" << kernel.end << R"(,"correlation":)"
       << kernel.correlationId << R"(,"device":)" << kernel.deviceId << R"(,"context":)"
       << kernel.contextId << R"(,"stream":)" << kernel.streamId << R"(,"grid":[)" << kernel.gridX
       << ',' << kernel.gridY << ',' << kernel.gridZ << R"(],"block":[)" << kernel.blockX << ','
       << kernel.blockY << ',' << kernel.blockZ << R"(],"cluster":[)" << kernel.clusterX << ','
       << kernel.clusterY << ',' << kernel.clusterZ << R"(],"registers_per_thread":)"
       << kernel.registersPerThread << R"(,"static_shared_bytes":)" << kernel.staticSharedMemory
       << R"(,"dynamic_shared_bytes":)" << kernel.dynamicSharedMemory
       << R"(,"local_bytes_per_thread":)" << kernel.localMemoryPerThread << R"(,"graph_node":)"
       << kernel.graphNodeId << '}';
  output->line(line.str());
  counts.kernel_correlations.push_back(kernel.correlationId);
}

template <class Transfer>
void write_transfer(const char* kind, const Transfer& transfer) {
  std::ostringstream line;
  line << R"({"record":")" << kind << R"(","start_ns":)" << transfer.start << R"(,"end_ns":)"
       << transfer.end << R"(,"bytes":)" << transfer.bytes << R"(,"correlation":)"
       << transfer.correlationId << R"(,"stream":)" << transfer.streamId << '}';
  output->line(line.str());
}

void write_api(const char* layer, CUpti_CallbackDomain domain, const CUpti_ActivityAPI& call) {
  const char* name = nullptr;
  cuptiGetCallbackName(domain, call.cbid, &name);
  std::ostringstream line;
  line << R"({"record":")" << layer << R"(","name":)" << quoted(name) << R"(,"start_ns":)"
       << call.start << R"(,"end_ns":)" << call.end << R"(,"correlation":)" << call.correlationId
       << R"(,"thread":)" << call.threadId << R"(,"returned":)" << call.returnValue << '}';
  output->line(line.str());
}

void write_external(const CUpti_ActivityExternalCorrelation& link) {
  std::ostringstream line;
  line << R"({"record":"external","kind":)" << link.externalKind << R"(,"external_id":)"
       << link.externalId << R"(,"correlation":)" << link.correlationId << '}';
  output->line(line.str());
  counts.correlations_with_external_id.insert(link.correlationId);
}

void write_record(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      ++counts.records["kernel"];
      return write_kernel(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      ++counts.records["memcpy"];
      return write_transfer("memcpy", *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      ++counts.records["memset"];
      return write_transfer("memset", *reinterpret_cast<const CUpti_ActivityMemset4*>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      ++counts.records["runtime"];
      return write_api("runtime", CUPTI_CB_DOMAIN_RUNTIME_API,
                       *reinterpret_cast<const CUpti_ActivityAPI*>(record));
    case CUPTI_ACTIVITY_KIND_DRIVER:
      ++counts.records["driver"];
      return write_api("driver", CUPTI_CB_DOMAIN_DRIVER_API,
                       *reinterpret_cast<const CUpti_ActivityAPI*>(record));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      ++counts.records["external"];
      return write_external(*reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record));
    default:
      ++counts.records["other"];
      return output->line(R"({"record":"other","kind":)" + std::to_string(record->kind) + '}');
  }
}

constexpr size_t kBufferBytes = 4 << 20;
constexpr size_t kAlignmentBytes = 8;  // ACTIVITY_RECORD_ALIGNMENT in cupti_activity.h

void CUPTIAPI buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignmentBytes, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                               size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    write_record(record);
  }
  size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    counts.records["dropped"] += dropped;
  }
  std::free(buffer);
}

// ---- ATen calls: each one's id is on CUPTI's stack of its thread while the call runs.

struct CallContext : at::ObserverContext {
  uint64_t id = 0;
};
std::atomic<uint64_t> next_call_id{1};
std::atomic<uint64_t> failed_pushes{0};
thread_local std::vector<uint64_t> open_calls;

std::unique_ptr<at::ObserverContext> call_started(const at::RecordFunction& function) {
  auto context = std::make_unique<CallContext>();
  context->id = next_call_id++;
  std::ostringstream line;
  line << R"({"record":"call","id":)" << context->id << R"(,"parent":)"
       << (open_calls.empty() ? 0 : open_calls.back()) << R"(,"name":)" << quoted(function.name())
       << R"(,"sequence":)" << function.seqNr() << R"(,"forward_thread":)"
       << function.forwardThreadId() << R"(,"thread":)" << at::RecordFunction::currentThreadId()
       << R"(,"scope":)"
       << quoted(function.scope() == at::RecordScope::BACKWARD_FUNCTION ? "backward_function"
                                                                        : "function")
       << '}';
  output->line(line.str());
  open_calls.push_back(context->id);
  if (cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
                                             context->id) != CUPTI_SUCCESS) {
    ++failed_pushes;
  }
  return context;
}

void call_ended(const at::RecordFunction&, at::ObserverContext*) {
  uint64_t id = 0;
  cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
  if (!open_calls.empty()) open_calls.pop_back();
}

// ---- The model: attention through scaled_dot_product_attention, then a feed-forward layer.

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t width, int64_t heads)
      : heads(heads),
        norm_1(register_module("norm_1", torch::nn::LayerNorm(std::vector<int64_t>{width}))),
        norm_2(register_module("norm_2", torch::nn::LayerNorm(std::vector<int64_t>{width}))),
        qkv(register_module("qkv", torch::nn::Linear(width, 3 * width))),
        projection(register_module("projection", torch::nn::Linear(width, width))),
        up(register_module("up", torch::nn::Linear(width, 4 * width))),
        down(register_module("down", torch::nn::Linear(4 * width, width))) {}

  torch::Tensor attention(const torch::Tensor& x) {
    const auto parts = qkv(x).view({x.size(0), x.size(1), 3, heads, -1}).permute({2, 0, 3, 1, 4});
    const auto mixed =
        at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    return projection(mixed.transpose(1, 2).reshape_as(x));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention(norm_1(x));
    return x + down(torch::gelu(up(norm_2(x))));
  }

  int64_t heads;
  torch::nn::LayerNorm norm_1, norm_2;
  torch::nn::Linear qkv, projection, up, down;
};
TORCH_MODULE(Block);

void step(Block& block, const torch::Tensor& x) {
  block->zero_grad();
  block->forward(x).to(torch::kFloat32).square().mean().backward();
  torch::cuda::synchronize();
}

void write_machine() {
  utsname system{};
  uname(&system);
  uint32_t version = 0;
  report("cuptiGetVersion", cuptiGetVersion(&version));
  std::ostringstream line;
  line << R"({"record":"machine","kernel":)" << quoted(system.release) << R"(,"torch":)"
       << quoted(TORCH_VERSION) << R"(,"cupti_header":)" << CUPTI_API_VERSION
       << R"(,"cupti_library":)" << version << R"(,"devices":)"
       << (torch::cuda::is_available() ? torch::cuda::device_count() : 0) << '}';
  output->line(line.str());
}

bool start_recording() {
  bool works = report("cuptiActivityRegisterCallbacks",
                      cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed));
  const std::pair<const char*, CUpti_ActivityKind> kinds[] = {
      {"EXTERNAL_CORRELATION", CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
      {"CONCURRENT_KERNEL", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
      {"MEMCPY", CUPTI_ACTIVITY_KIND_MEMCPY},
      {"MEMSET", CUPTI_ACTIVITY_KIND_MEMSET},
      {"RUNTIME", CUPTI_ACTIVITY_KIND_RUNTIME},
      {"DRIVER", CUPTI_ACTIVITY_KIND_DRIVER}};
  for (const auto& [name, kind] : kinds) {
    const std::string call = std::string("cuptiActivityEnable ") + name;
    works = report(call.c_str(), cuptiActivityEnable(kind)) && works;
  }
  return works;
}

void record_step() {
  torch::manual_seed(0);
  Block block(768, 12);
  block->to(torch::kCUDA, torch::kBFloat16);
  const auto x = torch::randn({4, 256, 768}, torch::dtype(torch::kBFloat16).device(torch::kCUDA));
  for (int warm = 0; warm < 3; ++warm) step(block, x);  // handles, plans and modules are loaded
  report("cuptiActivityFlushAll before the step", cuptiActivityFlushAll(1));
  output->line(R"({"record":"mark","name":"step"})");
  const auto handle = at::addGlobalCallback(
      at::RecordFunctionCallback(call_started, call_ended)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  counts = {};
  step(block, x);
  at::removeCallback(handle);
  report("cuptiActivityFlushAll after the step", cuptiActivityFlushAll(1));
}

// At least 99 of 100 kernels must carry an ATen call's id: what the profiler's attribution rests
// on.
bool write_summary() {
  size_t linked = 0;
  for (const uint32_t correlation : counts.kernel_correlations) {
    linked += counts.correlations_with_external_id.count(correlation);
  }
  const size_t kernels = counts.kernel_correlations.size();
  std::ostringstream line;
  line << R"({"record":"summary","kernels":)" << kernels << R"(,"kernels_with_external_id":)"
       << linked << R"(,"failed_pushes":)" << failed_pushes << R"(,"records":{)";
  const char* separator = "";
  for (const auto& [name, count] : counts.records) {
    line << separator << quoted(name.c_str()) << ':' << count;
    separator = ",";
  }
  line << "}}";
  output->line(line.str());
  std::cout << line.str() << '\n';
  return kernels > 0 && linked * 100 >= kernels * 99 && failed_pushes == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: cupti_probe OUTPUT.jsonl\n";
    return 2;
  }
  Output file(argv[1]);
  if (!file.good()) {
    std::cerr << "cupti_probe: " << argv[1]
              << ": cannot be written; give a path in a folder that is there\n";
    return 2;
  }
  output = &file;
  write_machine();
  const bool works = start_recording();
  if (!torch::cuda::is_available()) {
    std::cerr << "cupti_probe: no CUDA device was found; the file holds CUPTI's answers only\n";
    return 3;
  }
  record_step();
  const bool attributed = write_summary();
  std::cout << (works && attributed ? "attribution works\n" : "attribution does NOT work\n");
  return works && attributed ? 0 : 1;
}
