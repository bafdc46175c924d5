#include "shape/step/look_ups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace symprof::shape {
namespace {

class Look {
 public:
  explicit Look(const Recording& recording) : recording_(recording) {}

  void at(const CallRecord& call) {
    const std::string_view op = recording_.ops[static_cast<std::size_t>(call.op)];
    if (op == "aten::embedding") check(call);
    if (op.ends_with('_')) {
      for (const TensorRecord& output : call.outputs) numbers_.erase(output.storage);
    } else if (op == "aten::arange") {
      count(call.outputs.at(0));
    } else if (op == "aten::_to_copy" || op == "aten::clone" || op == "aten::add") {
      pass_on(call);
    }
  }

 private:
  const TensorSpec* spec(const TensorRecord& tensor) const {
    return tensor.spec == none ? nullptr : &recording_.specs[static_cast<std::size_t>(tensor.spec)];
  }

  /// True for integers that do not wrap around.
  static bool is_wide_integer(const TensorSpec* tensor) {
    return tensor != nullptr && (tensor->dtype == DType::int32 || tensor->dtype == DType::int64);
  }

  void count(const TensorRecord& made) {
    if (is_wide_integer(spec(made))) numbers_[made.storage] = spec(made)->numel();
  }

  /// Propagates the count through a call that copies all numbers or adds one number to them.
  void pass_on(const CallRecord& call) {
    const TensorRecord* source = nullptr;
    for (const TensorRecord& input : call.inputs) {
      if (spec(input) == nullptr || spec(input)->sizes.empty()) continue;
      if (source != nullptr) return;
      source = &input;
    }
    if (source == nullptr || call.outputs.size() != 1) return;
    if (different_numbers(*source) == spec(*source)->numel()) count(call.outputs[0]);
  }

  /// A lower bound on the distinct numbers in a tensor: its distinct memory positions, as all their
  /// numbers differ. An expanded tensor repeats positions. 0 if nothing is known.
  std::int64_t different_numbers(const TensorRecord& tensor) const {
    const auto known = numbers_.find(tensor.storage);
    if (known == numbers_.end()) return 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;  // Stride and size.
    for (std::size_t i = 0; i < spec(tensor)->sizes.size(); ++i)
      dimensions.emplace_back(spec(tensor)->strides[i], spec(tensor)->sizes[i]);
    std::ranges::sort(dimensions);
    std::int64_t places = 1, extent = 1;
    for (const auto& [stride, size] : dimensions) {
      if (stride == 0 || size == 1) continue;
      if (size == 0 || stride < extent) return 0;  // Overlapping windows.
      places *= size;
      extent += (size - 1) * stride;
    }
    return std::min(places, known->second);
  }

  /// (weight, indices, …)
  void check(const CallRecord& call) const {
    const TensorSpec* table = spec(call.inputs.at(0));
    const std::int64_t wanted = different_numbers(call.inputs.at(1));
    if (table == nullptr || wanted <= table->sizes.at(0)) return;
    const NodeRecord& node = recording_.nodes.at(static_cast<std::size_t>(call.node));
    throw Error(
        fmt::format("{}: node {} ({})", recording_.path, node.name, node.op),
        fmt::format("looks up {} different positions in a table of {}", wanted, table->sizes.at(0)),
        fmt::format("Give a smaller size with {} or {}.", setting("sizes"), setting("inputs")));
  }

  const Recording& recording_;
  std::unordered_map<StorageId, std::int64_t> numbers_;  ///< Count of distinct numbers.
};

}  // namespace

void check_look_ups(const Recording& recording) {
  Look look(recording);
  for (const CallRecord& call : recording.calls)
    if (call.phase == Phase::forward && call.op != none) look.at(call);
}

}  // namespace symprof::shape
