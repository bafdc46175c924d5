#include "trace/onnx/initializers.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// How operators use a value. `matrix`: a table or a matrix; `product`: also a stack of matrices;
/// `data`: integers are quantized numbers, not arithmetic on shapes.
enum class Use : std::uint8_t { other, data, number, matrix, product, weight, buffer };

/// Inputs `first` … `last` of an operator are used in this way.
struct UseRow {
  std::string_view op;
  std::size_t first, last;
  Use use;
};

constexpr std::array use_rows = {
    UseRow{"aten::linear", 1, 2, Use::weight},
    UseRow{"onnx::Conv", 1, 2, Use::weight},
    UseRow{"onnx::ConvTranspose", 1, 2, Use::weight},
    UseRow{"onnx::Gemm", 0, 2, Use::weight},
    UseRow{"onnx::MatMul", 0, 1, Use::product},
    UseRow{"onnx::Gather", 0, 0, Use::matrix},
    UseRow{"onnx::GatherND", 0, 0, Use::matrix},
    UseRow{"onnx::LayerNormalization", 1, 2, Use::weight},
    UseRow{"onnx::RMSNormalization", 1, 1, Use::weight},
    UseRow{"onnx::GroupNormalization", 1, 2, Use::weight},
    UseRow{"onnx::InstanceNormalization", 1, 2, Use::weight},
    UseRow{"onnx::BatchNormalization", 1, 2, Use::weight},
    UseRow{"onnx::BatchNormalization", 3, 4, Use::buffer},
    UseRow{"onnx::PRelu", 1, 1, Use::weight},
    UseRow{"onnx::LSTM", 1, 3, Use::weight},
    UseRow{"onnx::GRU", 1, 3, Use::weight},
    UseRow{"onnx::RNN", 1, 3, Use::weight},
    UseRow{"onnx::Resize", 1, 3, Use::number},
    UseRow{"onnx::Pad", 1, 3, Use::number},
    UseRow{"onnx::Clip", 1, 2, Use::number},
    UseRow{"onnx::Dropout", 1, 2, Use::number},
    UseRow{"onnx::OneHot", 1, 2, Use::number},
    UseRow{"onnx::Range", 0, 2, Use::number},
    UseRow{"com.microsoft::Attention", 1, 2, Use::weight},
    UseRow{"com.microsoft::BiasGelu", 1, 1, Use::weight},
    UseRow{"com.microsoft::CausalConvWithState", 1, 2, Use::weight},
    UseRow{"com.microsoft::EmbedLayerNormalization", 2, 6, Use::weight},
    UseRow{"com.microsoft::FastGelu", 1, 1, Use::weight},
    UseRow{"com.microsoft::FusedConv", 1, 2, Use::weight},
    UseRow{"com.microsoft::FusedGemm", 0, 2, Use::weight},
    UseRow{"com.microsoft::FusedMatMul", 0, 1, Use::product},
    UseRow{"com.microsoft::GroupNorm", 1, 2, Use::weight},
    UseRow{"com.microsoft::GroupQueryAttention", 7, 8, Use::buffer},
    UseRow{"com.microsoft::MultiHeadAttention", 3, 3, Use::weight},
    UseRow{"com.microsoft::RotaryEmbedding", 2, 3, Use::buffer},
    UseRow{"com.microsoft::SkipGroupNorm", 1, 2, Use::weight},
    UseRow{"com.microsoft::SkipLayerNormalization", 2, 4, Use::weight},
    UseRow{"com.microsoft::SkipSimplifiedLayerNormalization", 2, 3, Use::weight},
};

/// Beginnings of the names of operators whose integer tensors are quantized numbers: weights, zero
/// points, biases, rows of groups.
constexpr std::array<std::string_view, 11> quantized = {
    "onnx::ConvInteger",
    "onnx::DequantizeLinear",
    "onnx::MatMulInteger",
    "onnx::QLinear",
    "onnx::QuantizeLinear",
    "com.microsoft::Dequantize",
    "com.microsoft::DynamicQuantize",
    "com.microsoft::GatherBlockQuantized",
    "com.microsoft::MatMul",
    "com.microsoft::MulInteger",
    "com.microsoft::Q",
};

/// Operators that only rearrange their first input.
constexpr std::array<std::string_view, 7> rearranging = {
    "onnx::Transpose", "onnx::Reshape",   "onnx::Identity", "onnx::Cast",
    "onnx::Squeeze",   "onnx::Unsqueeze", "aten::t"};

/// Operators whose outputs are parts of their first input, such as the weights of chosen experts.
constexpr std::array<std::string_view, 5> selecting = {
    "onnx::Gather", "onnx::GatherND", "onnx::Slice", "onnx::Split", "onnx::Expand"};

bool is_one_of(std::span<const std::string_view> ops, const std::string& op) {
  return std::ranges::find(ops, op) != ops.end();
}

/// An operator of a package of its own computes no shapes either.
bool reads_data(const std::string& op) {
  const std::string_view domain = std::string_view(op).substr(0, op.find("::"));
  if (domain != "onnx" && domain != "com.microsoft" && domain != "aten") return true;
  return std::ranges::any_of(quantized,
                             [&](std::string_view name) { return op.starts_with(name); });
}

/// How each value is used, by ValueId; backwards through the operators that only rearrange.
std::vector<Use> find_uses(const Graph& graph) {
  std::vector<Use> uses(graph.values.size(), Use::other);
  const auto note = [&](const Argument& argument, Use use) {
    const auto* ref = std::get_if<ValueRef>(&argument.value);
    if (ref == nullptr || ref->id == no_value) return;
    Use& known = uses[static_cast<std::size_t>(ref->id)];
    known = std::max(known, use);
  };
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    for (const UseRow& row : use_rows)
      if (row.op == node->op)
        for (std::size_t i = row.first; i <= row.last && i < node->arguments.size(); ++i)
          if (node->arguments[i].name.empty()) note(node->arguments[i], row.use);
    if (reads_data(node->op))
      for (const Argument& argument : node->arguments)
        if (argument.name.empty()) note(argument, Use::data);
    const bool rearranges = is_one_of(rearranging, node->op);
    if (node->arguments.empty() || (!rearranges && !is_one_of(selecting, node->op))) continue;
    for (const ValueId output : node->outputs) {
      const Use use = output == no_value ? Use::other : uses[static_cast<std::size_t>(output)];
      if (rearranges || use == Use::product) note(node->arguments.front(), use);
    }
  }
  return uses;
}

std::optional<ValueKind> kind_in_signature(std::string_view line) {
  if (line.find(": PARAMETER ") != line.npos) return ValueKind::parameter;
  if (line.find(": BUFFER ") != line.npos) return ValueKind::buffer;
  if (line.find(": CONSTANT_TENSOR ") != line.npos) return ValueKind::constant;
  return std::nullopt;
}

/// Lines such as "p_conv_weight: PARAMETER target='conv.weight'" and
/// "b_mask: BUFFER target='mask' persistent=True": str(ExportGraphSignature) in
/// torch/export/graph_signature.py.
Signature parse_signature(const std::string& text) {
  Signature signature;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto target = line.find(" target='");
    if (target == line.npos) continue;
    const auto begin = target + 9, end = line.find('\'', begin);
    if (end == line.npos) continue;
    const std::string path = line.substr(begin, end - begin);
    const auto kind = kind_in_signature(line);
    if (!kind) continue;
    signature.kinds[path] = *kind;
    signature.targets[line.substr(0, line.find(':'))] = path;
    if (*kind == ValueKind::parameter) signature.parameters.push_back(path);
  }
  return signature;
}

/// "encoder.layers.0.weight", not "/encoder/Add_output_0" or "onnx::MatMul_12".
bool is_module_path(std::string_view name) {
  return name.find('.') != name.npos && name.find('/') == name.npos && name.find("::") == name.npos;
}

bool is_made_up(std::string_view name) {
  return name.starts_with('/') || name.starts_with("val_") || name.find("::") != name.npos ||
         name.find_first_not_of("0123456789") == name.npos;
}

bool is_small(const TensorSpec& spec) {
  return spec.numel() <=
         (is_floating_point(spec.dtype) ? largest_real_constant : largest_integer_constant);
}

/// A batched product with a row or a column is arithmetic (frequencies × positions), not a weight.
bool is_weight(Use use, const TensorSpec& spec) {
  const std::size_t rank = spec.sizes.size();
  if (use == Use::weight || rank < 2) return use == Use::weight;
  if (rank == 2) return use == Use::matrix || use == Use::product;
  return use == Use::product && spec.sizes[rank - 1] > 1 && spec.sizes[rank - 2] > 1;
}

/// By ValueId: values used only to select rows of a matrix in the file (positions, token types). In
/// PyTorch they are on the device with the table, as `embedding` requires.
std::vector<bool> find_row_numbers(const Graph& graph) {
  std::vector<bool> selects(graph.values.size(), false), does_more(graph.values.size(), false);
  const auto is_table = [&](ValueId id) {
    if (id == no_value) return false;
    const Value& value = graph.value(id);
    return value.kind == ValueKind::constant && value.spec && value.spec->sizes.size() == 2;
  };
  for (const Node& node : graph.nodes) {
    const bool looks_up = (node.op == "onnx::Gather" || node.op == "onnx::GatherElements") &&
                          is_table(operand(node, 0));
    for (std::size_t i = 0; i < node.arguments.size(); ++i)
      for_each_value(node.arguments[i], [&](ValueId id) {
        if (id != no_value)
          (looks_up && i == 1 ? selects : does_more)[static_cast<std::size_t>(id)] = true;
      });
  }
  for (const ValueId id : graph.outputs) does_more[static_cast<std::size_t>(id)] = true;
  for (std::size_t id = 0; id < selects.size(); ++id) selects[id] = selects[id] && !does_more[id];
  return selects;
}

/// Shapes are computed in 32 and 64 bits: several narrower integers are data, whatever reads them.
bool is_data(Use use, const TensorSpec& spec) {
  if (spec.numel() <= 1 || use == Use::number) return false;
  return use == Use::data || (spec.dtype != DType::boolean && element_bits(spec.dtype) < 32);
}

ValueKind kind_of(const Value& value, Use use, const Signature& signature, bool names_all) {
  const TensorSpec& spec = *value.spec;
  const std::string& name = value.name;
  if (use == Use::buffer) return ValueKind::buffer;
  if (const auto found = signature.kinds.find(name); found != signature.kinds.end())
    return found->second;
  if (!is_floating_point(spec.dtype))
    return is_module_path(name) || is_data(use, spec) ? ValueKind::buffer : ValueKind::constant;
  if (spec.sizes.empty() || spec.numel() == 0 || use == Use::number) return ValueKind::constant;
  if (is_weight(use, spec)) return names_all ? ValueKind::constant : ValueKind::parameter;
  const bool could_be = !is_made_up(name) && (spec.numel() > 1 || is_module_path(name));
  return signature.kinds.empty() && could_be ? ValueKind::parameter : ValueKind::constant;
}

}  // namespace

Signature find_signature(const onnx::ModelProto& model) {
  for (const onnx::StringStringEntryProto& entry : model.graph().metadata_props())
    if (entry.key() == "pkg.torch.export.ExportedProgram.graph_signature")
      return parse_signature(entry.value());
  return {};
}

std::vector<ValueId> read_initializers(const Graph& graph,
                                       const std::vector<ValueId>& initializers) {
  const Uses uses(graph);
  std::vector<ValueId> read;
  std::ranges::copy_if(initializers, std::back_inserter(read),
                       [&](ValueId id) { return !uses.readers(id).empty() || uses.is_output(id); });
  return read;
}

void drop_unread(Graph& graph, const std::vector<ValueId>& read,
                 std::vector<ValueId>& initializers) {
  std::unordered_set<ValueId> gone(read.begin(), read.end());
  for (const ValueId id : read_initializers(graph, read)) gone.erase(id);
  for (const ValueId id : gone) graph.value(id) = Value{.name = graph.value(id).name};
  std::erase_if(initializers, [&](ValueId id) { return gone.contains(id); });
}

void classify_initializers(Graph& graph, const std::vector<ValueId>& initializers,
                           const Signature& signature, bool names_all) {
  std::vector<Use> uses = find_uses(graph);
  const std::vector<bool> row_numbers = find_row_numbers(graph);
  for (const ValueId id : initializers) {
    const auto index = static_cast<std::size_t>(id);
    Value& value = graph.values[index];
    if (row_numbers[index]) uses[index] = Use::buffer;
    value.kind = kind_of(value, uses[index], signature, names_all);
    if (value.kind == ValueKind::parameter || !is_small(*value.spec)) value.constant = nullptr;
  }
}

}  // namespace symprof::trace
