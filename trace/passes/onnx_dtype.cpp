#include "trace/passes/onnx_dtype.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// TensorProto::DataType of the dtypes that a model can be cast to (onnx.proto).
constexpr std::array<std::pair<std::int64_t, DType>, 4> codes = {{
    {1, DType::float32},
    {10, DType::float16},
    {11, DType::float64},
    {16, DType::bfloat16},
}};

constexpr std::array<std::string_view, 4> type_attributes = {"to", "dtype", "output_dtype",
                                                             "output_datatype"};

/// Generators, and the attribute whose default is FLOAT.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> makers_of_floats = {{
    {"onnx::RandomNormal", "dtype"},
    {"onnx::RandomUniform", "dtype"},
    {"onnx::HannWindow", "output_datatype"},
    {"onnx::HammingWindow", "output_datatype"},
    {"onnx::BlackmanWindow", "output_datatype"},
    {"onnx::MelWeightMatrix", "output_datatype"},
}};

std::optional<std::int64_t> code_of(DType dtype) {
  const auto* found = std::ranges::find(codes, dtype, &std::pair<std::int64_t, DType>::second);
  return found == codes.end() ? std::nullopt : std::optional(found->first);
}

bool is_model_dtype(DType dtype) { return is_floating_point(dtype) && element_bits(dtype) > 8; }

std::shared_ptr<const ConstantTensor> cast(const std::shared_ptr<const ConstantTensor>& constant,
                                           DType from, DType to) {
  if (!constant || constant->spec.dtype != from) return constant;
  return with_dtype(*constant, to);
}

/// Before opset 6 Cast writes the type as a word.
bool is_word_for(const std::string& text, DType dtype) {
  std::string word = text;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return parse_dtype(word) == dtype;
}

class Replacer {
 public:
  Replacer(DType from, DType to) : from_(from), to_(to) {}

  void run(Graph& graph) const {
    graph.cast_to = to_;
    for (Value& value : graph.values) {
      if (value.kind == ValueKind::result) value.spec.reset();
      if (value.spec && value.spec->dtype == from_) value.spec->dtype = to_;
      value.constant = cast(value.constant, from_, to_);
    }
    for (Node& node : graph.nodes) {
      for (Argument& argument : node.arguments) change(node, argument);
      write_default(node);
    }
  }

 private:
  void change(const Node& node, Argument& argument) const {
    change_nested(argument, [&](Graph& branch) { run(branch); });
    if (auto* constant = std::get_if<std::shared_ptr<const ConstantTensor>>(&argument.value))
      *constant = cast(*constant, from_, to_);
    if (auto* dtype = std::get_if<DType>(&argument.value); dtype != nullptr && *dtype == from_)
      *dtype = to_;
    const bool names_type =
        std::ranges::find(type_attributes, argument.name) != type_attributes.end();
    if (!names_type || node.op == "onnx::BitCast") return;
    if (auto* code = std::get_if<std::int64_t>(&argument.value)) {
      if (*code == code_of(from_)) *code = code_of(to_).value_or(*code);
    } else if (auto* word = std::get_if<std::string>(&argument.value)) {
      if (is_word_for(*word, from_)) *word = std::string(name(to_));
    }
  }

  /// An omitted dtype attribute means FLOAT.
  void write_default(Node& node) const {
    if (from_ != DType::float32) return;
    const auto* maker = std::ranges::find(makers_of_floats, std::string_view(node.op),
                                          &std::pair<std::string_view, std::string_view>::first);
    if (maker != makers_of_floats.end() && find_argument(node, maker->second) == nullptr)
      set_argument(node, maker->second, *code_of(to_));
    if (node.op != "onnx::ConstantOfShape" || find_argument(node, "value") != nullptr) return;
    auto zero = std::make_shared<ConstantTensor>();
    zero->spec = {.dtype = to_, .sizes = {1}, .strides = {1}};
    zero->data.resize(static_cast<std::size_t>(element_bytes(to_)));
    set_argument(node, "value", std::shared_ptr<const ConstantTensor>(std::move(zero)));
  }

  DType from_, to_;
};

}  // namespace

std::optional<DType> onnx_model_dtype(const Graph& graph) {
  std::map<DType, std::int64_t> elements;
  std::optional<DType> of_inputs;
  for (const Value& value : graph.values) {
    if (value.kind == ValueKind::result || !value.spec || !is_model_dtype(value.spec->dtype))
      continue;
    if (value.kind != ValueKind::input)
      elements[value.spec->dtype] += value.spec->numel();
    else if (!of_inputs)
      of_inputs = value.spec->dtype;
  }
  const auto most =
      std::ranges::max_element(elements, {}, &std::pair<const DType, std::int64_t>::second);
  return most == elements.end() ? of_inputs : std::optional(most->first);
}

void replace_onnx_dtype(Graph& graph, DType from, DType to) { Replacer(from, to).run(graph); }

}  // namespace symprof::trace
