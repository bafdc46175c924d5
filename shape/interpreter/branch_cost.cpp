#include "shape/interpreter/branch_cost.h"

#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/silent_observer.h"
#include "shape/interpreter/nested_body.h"

namespace symprof::shape {
namespace {

/// Counts the bytes that calls read and write. Keeps only the size in bytes of each spec.
class ByteCounter final : public meta::SilentObserver {
 public:
  std::int32_t on_spec(TensorSpec spec) override {
    bytes_of_.push_back(spec.bytes());
    return static_cast<std::int32_t>(bytes_of_.size()) - 1;
  }
  void on_call(const meta::SeenCall& call) override {
    for (const meta::SeenTensor& tensor : call.inputs) add(tensor);
    for (const meta::SeenTensor& tensor : call.outputs) add(tensor);
  }
  /// The upper bound is also used inside a branch.
  std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> most) override {
    return most;
  }
  bool takes_upper_bounds() override { return true; }

  std::int64_t bytes() const { return bytes_; }

 private:
  void add(const meta::SeenTensor& tensor) {
    if (tensor.spec >= 0) bytes_ += bytes_of_[static_cast<std::size_t>(tensor.spec)];
  }

  std::vector<std::int64_t> bytes_of_;
  std::int64_t bytes_ = 0;
};

std::int64_t bytes_moved(const Graph& branch, const std::vector<c10::IValue>& inputs,
                         c10::Device device) {
  const auto counter = std::make_shared<ByteCounter>();
  const meta::FakeMode mode(*meta::current_attention_policy(), counter);
  const at::NoGradGuard no_grad;
  run_body(branch, inputs, device, {});
  return counter->bytes();
}

}  // namespace

bool is_costlier(const Graph& branch, const Graph& other, const std::vector<c10::IValue>& inputs,
                 c10::Device device) {
  const auto observer = meta::current_observer();
  if (!observer || !observer->takes_upper_bounds())
    throw Error("",
                "data-dependent control flow: a predicate says which branch runs, and it is "
                "not known before the model runs",
                "Take the costlier branch with " + setting("unbacked", "max") +
                    ", or export the model so that the predicate follows from the shapes of its "
                    "inputs.");
  return bytes_moved(branch, inputs, device) >= bytes_moved(other, inputs, device);
}

}  // namespace symprof::shape
