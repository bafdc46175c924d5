#include "profile/memory/other_calls.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "profile/memory/last_use_peak.h"

namespace symprof::profile {
namespace {

/// Partial writes of a buffer also occur in evaluation, e.g. of a key-value cache.
constexpr std::array<std::string_view, 5> writes_of_parts = {"index_copy", "index_put", "index_add",
                                                             "scatter", "index_fill"};

bool may_write_all(std::string_view op) {
  op.remove_prefix(std::string_view("aten::").size());
  return op.find("_norm") == op.npos &&  // Has a `training` argument.
         std::ranges::none_of(writes_of_parts,
                              [&](std::string_view part) { return op.starts_with(part); });
}

/// True if the call may overwrite a whole buffer: in place, or as its `out` argument. A view reads
/// only one tensor.
bool writes_buffer(const Recording& recording, const CallRecord& call) {
  const std::string_view op = recording.ops[static_cast<std::size_t>(call.op)];
  if ((!op.ends_with('_') && call.inputs.size() < 2) || !may_write_all(op)) return false;
  return std::ranges::any_of(call.outputs, [&](const TensorRecord& output) {
    if (output.storage == none || output.spec == none) return false;
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(output.storage)];
    const TensorSpec& spec = recording.specs[static_cast<std::size_t>(output.spec)];
    return storage.kind == StorageKind::buffer &&
           spec.numel() * element_bytes(spec.dtype) == storage.bytes;
  });
}

constexpr std::string_view onnx_prefix = "onnx::";

/// ONNX operators that PyTorch's exporter writes for exactly one ATen call with the same saved
/// tensors, as in convolutional networks, and operators that only compute sizes. Layer norms,
/// activations such as Gelu, attention, matrix products, sums and indexing have several encodings.
constexpr std::array<std::string_view, 36> operators_of_one_call = {"Conv",
                                                                    "ConvTranspose",
                                                                    "BatchNormalization",
                                                                    "Relu",
                                                                    "LeakyRelu",
                                                                    "PRelu",
                                                                    "Sigmoid",
                                                                    "MaxPool",
                                                                    "AveragePool",
                                                                    "GlobalAveragePool",
                                                                    "LRN",
                                                                    "ReduceMean",
                                                                    "Gemm",
                                                                    "Add",
                                                                    "Sub",
                                                                    "Mul",
                                                                    "Div",
                                                                    "Concat",
                                                                    "Reshape",
                                                                    "Flatten",
                                                                    "Dropout",
                                                                    "Pad",
                                                                    "Resize",
                                                                    "DepthToSpace",
                                                                    "Slice",
                                                                    "Identity",
                                                                    "Shape",
                                                                    "Constant",
                                                                    "ConstantOfShape",
                                                                    "Expand",
                                                                    "CastLike",
                                                                    "Cast",
                                                                    "Unsqueeze",
                                                                    "Squeeze",
                                                                    "Floor",
                                                                    "RandomUniformLike"};

bool trains(const Recording& recording) {
  return std::ranges::any_of(recording.calls,
                             [](const CallRecord& call) { return is_in_backward(call.phase); });
}

/// ONNX operators that the exporter may have written for different ATen calls.
std::vector<std::string> operators_of_other_calls(const Recording& recording) {
  std::vector<std::string> found;
  for (const NodeRecord& node : recording.nodes) {
    const std::string_view op = node.op;
    if (node.kind != NodeKind::operation || !op.starts_with(onnx_prefix)) continue;
    const std::string_view name = op.substr(onnx_prefix.size());
    if (std::ranges::find(operators_of_one_call, name) == operators_of_one_call.end() &&
        std::ranges::find(found, name) == found.end())
      found.emplace_back(name);
  }
  return found;
}

/// True if attention has a mask argument: it is saved for backward, and without it another kernel
/// may run.
bool gives_attention_masks(const Recording& recording) {
  return std::ranges::any_of(recording.nodes, [](const NodeRecord& node) {
    return node.op == "aten::scaled_dot_product_attention" && node.inputs.size() > 3;
  });
}

/// In training, masks caused no error in any trace of the models of docs/evaluation/foreign.md.
OtherCallsReason because_of_masks(const Recording& recording, bool is_training) {
  if (!is_training) return OtherCallsReason::masks;
  return recording.traits.saves_export_masks && gives_attention_masks(recording)
             ? OtherCallsReason::saving_masks
             : OtherCallsReason::none;
}

/// Differences below 0.5 % of the peak are ignored.
constexpr std::int64_t least_part_by_names = 200;

/// True if the peak is lower when every value is freed after its last use in the forward pass or
/// backward. A trace's variables keep some values alive longer: until they are rebound by something
/// without a name in the trace, or their function returns.
bool is_higher_by_names(const Recording& recording) {
  if (!recording.names_are_guessed) return false;
  const PeakWithLastUses peaks = peak_with_last_uses(recording);
  return peaks.found - peaks.at_last_uses > peaks.found / least_part_by_names;
}

}  // namespace

OtherCalls other_calls(const Recording& recording) {
  const bool is_onnx = !recording.traits.operators_are_aten;
  const bool is_training = trains(recording);
  if (is_onnx && is_training) {
    std::vector<std::string> operators = operators_of_other_calls(recording);
    if (operators.empty()) return {};
    return {OtherCallsReason::saving, std::move(operators)};
  }
  if (is_onnx) return {OtherCallsReason::onnx, {}};
  if (recording.inlined_function_calls > 0) return {OtherCallsReason::functions, {}};
  if (recording.has_export_masks)
    if (const auto reason = because_of_masks(recording, is_training);
        reason != OtherCallsReason::none)
      return {reason, {}};
  if (is_training)
    return {is_higher_by_names(recording) ? OtherCallsReason::names : OtherCallsReason::none, {}};
  const bool writes = std::ranges::any_of(
      recording.calls, [&](const CallRecord& call) { return writes_buffer(recording, call); });
  return {writes ? OtherCallsReason::training : OtherCallsReason::none, {}};
}

std::int64_t other_calls_margin_bytes(const Recording& recording, std::int64_t peak_bytes) {
  std::int64_t beside = peak_bytes;
  for (const StorageRecord& storage : recording.storages)
    if (storage.kind == StorageKind::parameter || storage.kind == StorageKind::buffer ||
        storage.kind == StorageKind::optimizer_state)
      beside -= storage.bytes;
  constexpr std::int64_t parts = 4;
  return std::max<std::int64_t>(beside, 0) / parts;
}

}  // namespace symprof::profile
