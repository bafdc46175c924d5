// Runs one transformer block forward and backward on cuda:0 and writes CUPTI's raw activity records
// as JSON lines: proof that kernels can be attributed to ATen calls through external correlation
// ids, and a fixture for decoders. cupti_probe.sh builds it; KERNELS.md documents every record.
//
// usage: cupti_probe OUTPUT.jsonl
#include <sys/utsname.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <atomic>
#include <memory>
#include <utility>

#include "cupti_records.h"

namespace {

using namespace cupti_probe;

// ---- ATen calls: each one's id is on CUPTI's stack of its thread while the call runs.

std::atomic<uint64_t> next_call_id{1};
std::atomic<uint64_t> failed_pushes{0};
thread_local std::vector<uint64_t> open_calls;

void write_call(uint64_t id, const at::RecordFunction& function) {
  const bool backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
  Lines::instance().add(fmt::format(
      R"({{"record":"call","id":{},"parent":{},"name":{},"sequence":{},"forward_thread":{},)"
      R"("thread":{},"scope":"{}"}})",
      id, open_calls.empty() ? 0 : open_calls.back(), quoted(function.name()), function.seqNr(),
      function.forwardThreadId(), at::RecordFunction::currentThreadId(),
      backward ? "backward_function" : "function"));
}

std::unique_ptr<at::ObserverContext> call_started(const at::RecordFunction& function) {
  const uint64_t id = next_call_id++;
  write_call(id, function);
  open_calls.push_back(id);
  if (cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id) !=
      CUPTI_SUCCESS) {
    ++failed_pushes;
  }
  return nullptr;
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
  Lines::instance().add(fmt::format(
      R"({{"record":"machine","kernel":{},"torch":{},"cupti_header":{},"cupti_library":{},"devices":{}}})",
      quoted(system.release), quoted(TORCH_VERSION), CUPTI_API_VERSION, version,
      torch::cuda::is_available() ? torch::cuda::device_count() : 0));
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
    works = report(call, cuptiActivityEnable(kind)) && works;
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
  Lines::instance().add(R"({"record":"mark","name":"step"})");
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
  std::string records;
  for (const auto& [name, count] : counts.records) {
    records += fmt::format(R"({}"{}":{})", records.empty() ? "" : ",", name, count);
  }
  const size_t kernels = counts.kernel_correlations.size();
  const std::string line = fmt::format(
      R"({{"record":"summary","kernels":{},"kernels_with_external_id":{},"failed_pushes":{},)"
      R"("records":{{{}}}}})",
      kernels, linked, failed_pushes.load(), records);
  Lines::instance().add(line);
  std::cout << line << '\n';
  return kernels > 0 && linked * 100 >= kernels * 99 && failed_pushes == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: cupti_probe OUTPUT.jsonl\n";
    return 2;
  }
  if (!Lines::instance().open(argv[1])) {
    std::cerr << "cupti_probe: " << argv[1]
              << ": cannot be written; give a path in a folder that is there\n";
    return 2;
  }
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
