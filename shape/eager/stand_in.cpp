#include "shape/eager/stand_in.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace symprof::shape {
namespace {

constexpr int deepest = 32;

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view op, Names names) {
  return std::ranges::find(names, op) != names.end();
}

class Reader {
 public:
  explicit Reader(const Recording& recording) : recording_(recording) {}

  bool tells_fault() const { return tells_fault_; }

  std::int64_t value(StorageId storage, CallId before, int depth) {
    const CallId writer = depth < deepest ? writer_of(storage, before) : none;
    if (writer == none) return 1;
    const CallRecord& call = recording_.calls[static_cast<std::size_t>(writer)];
    const std::string_view op = name_of(call);
    const auto input = [&](std::size_t i) {
      return i < call.inputs.size() ? value(call.inputs[i].storage, writer, depth + 1) : 1;
    };
    if (is_one_of(op, {"isnan", "isinf", "zeros", "zeros_like", "zero_", "new_zeros",
                       "_amp_foreach_non_finite_check_and_unscale_"}))
      return fault();
    if (is_one_of(op, {"lt", "gt"}) && is_drawn(call, writer)) return fault();
    if (op == "isin") return 0;  // Assumed: an unknown number equals none of the listed ones.
    const std::optional<std::int64_t> named = second_argument(call);
    if (named && is_one_of(op, {"full", "full_like", "fill_", "new_full"})) return *named;
    if (named && is_one_of(op, {"eq", "ne", "lt", "le", "gt", "ge"}))
      return holds(op, input(0), *named) ? 1 : 0;
    if (is_one_of(op, {"logical_not", "bitwise_not"})) return 1 - input(0);
    if (is_one_of(op, {"logical_or", "bitwise_or", "add", "add_", "maximum"}))
      return std::max(input(0), input(1));
    if (is_one_of(op, {"logical_and", "bitwise_and", "mul", "minimum"}))
      return std::min(input(0), input(1));
    if (is_one_of(op, {"any", "all", "_is_any_true", "_is_all_true", "sum", "max", "_to_copy",
                       "clone", "copy_", "stack", "cat"}))
      return input(op == "copy_" ? 1 : 0);
    return 1;
  }

 private:
  std::int64_t fault() {
    tells_fault_ = true;
    return 0;
  }

  static std::optional<std::int64_t> second_argument(const CallRecord& call) {
    const auto found = std::ranges::find(call.integers, 1, &IntegerArgument::position);
    return found == call.integers.end() ? std::nullopt : std::optional(found->value);
  }

  static bool holds(std::string_view comparison, std::int64_t left, std::int64_t right) {
    if (comparison == "eq") return left == right;
    if (comparison == "ne") return left != right;
    if (comparison == "lt") return left < right;
    if (comparison == "le") return left <= right;
    return comparison == "gt" ? left > right : left >= right;
  }

  std::string_view name_of(const CallRecord& call) const {
    std::string_view name = recording_.ops[static_cast<std::size_t>(call.op)];
    name.remove_prefix(name.rfind(':') + 1);
    return name;
  }

  /// True if its first input comes from `normal_`: torch.nn.init.trunc_normal_ draws again while a
  /// number lies beyond the bounds, which are a hundred standard deviations away by default.
  bool is_drawn(const CallRecord& call, CallId id) const {
    const CallId writer = call.inputs.empty() ? none : writer_of(call.inputs[0].storage, id);
    return writer != none &&
           name_of(recording_.calls[static_cast<std::size_t>(writer)]) == "normal_";
  }

  static bool has(const std::vector<TensorRecord>& tensors, StorageId storage) {
    return std::ranges::find(tensors, storage, &TensorRecord::storage) != tensors.end();
  }

  /// The last call before `before` that created the storage or wrote to it in place; views do not.
  CallId writer_of(StorageId storage, CallId before) const {
    for (CallId id = before - 1; storage != none && id >= 0; --id) {
      const CallRecord& call = recording_.calls[static_cast<std::size_t>(id)];
      const std::string_view op = name_of(call);
      const bool is_in_place = op.ends_with('_');
      if (is_in_place && has(call.inputs, storage)) return id;
      const bool is_made = has(call.outputs, storage) && !has(call.inputs, storage);
      if (is_made) return id;
    }
    return none;
  }

  const Recording& recording_;
  bool tells_fault_ = false;
};

}  // namespace

StandIn stand_in_for(const Recording& recording, StorageId storage) {
  Reader reader(recording);
  const std::int64_t number = reader.value(storage, static_cast<CallId>(recording.calls.size()), 0);
  return {number, reader.tells_fault()};
}

}  // namespace symprof::shape
