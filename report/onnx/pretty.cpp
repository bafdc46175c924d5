#include "report/onnx/pretty.h"

#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "report/onnx/print_order.h"
#include "report/onnx/python_text.h"
#include "workbench/types.h"

namespace symprof::report {
namespace {

using onnx::AttributeProto;
using workbench::element_count;
using workbench::numpy_name;

/// `att_display` of onnx_array_api/plotting/text_plot.py: attributes whose numbers are printed in
/// full.
constexpr std::string_view known_attributes[] = {"activations",
                                                 "align_corners",
                                                 "allowzero",
                                                 "alpha",
                                                 "auto_pad",
                                                 "axis",
                                                 "axes",
                                                 "batch_axis",
                                                 "batch_dims",
                                                 "beta",
                                                 "bias",
                                                 "blocksize",
                                                 "case_change_action",
                                                 "ceil_mode",
                                                 "center_point_box",
                                                 "clip",
                                                 "coordinate_transformation_mode",
                                                 "count_include_pad",
                                                 "cubic_coeff_a",
                                                 "decay_factor",
                                                 "detect_negative",
                                                 "detect_positive",
                                                 "dilation",
                                                 "dilations",
                                                 "direction",
                                                 "dtype",
                                                 "end",
                                                 "epsilon",
                                                 "equation",
                                                 "exclusive",
                                                 "exclude_outside",
                                                 "extrapolation_value",
                                                 "fmod",
                                                 "gamma",
                                                 "group",
                                                 "hidden_size",
                                                 "high",
                                                 "ignore_index",
                                                 "input_forget",
                                                 "is_case_sensitive",
                                                 "k",
                                                 "keepdims",
                                                 "kernel_shape",
                                                 "lambd",
                                                 "largest",
                                                 "layout",
                                                 "linear_before_reset",
                                                 "locale",
                                                 "low",
                                                 "max_gram_length",
                                                 "max_skip_count",
                                                 "mean",
                                                 "min_gram_length",
                                                 "mode",
                                                 "momentum",
                                                 "nearest_mode",
                                                 "ngram_counts",
                                                 "ngram_indexes",
                                                 "noop_with_empty_axes",
                                                 "norm_coefficient",
                                                 "norm_coefficient_post",
                                                 "num_scan_inputs",
                                                 "output_height",
                                                 "output_padding",
                                                 "output_shape",
                                                 "output_width",
                                                 "p",
                                                 "padding_mode",
                                                 "pads",
                                                 "perm",
                                                 "pooled_shape",
                                                 "reduction",
                                                 "reverse",
                                                 "sample_size",
                                                 "sampling_ratio",
                                                 "scale",
                                                 "scan_input_axes",
                                                 "scan_input_directions",
                                                 "scan_output_axes",
                                                 "scan_output_directions",
                                                 "seed",
                                                 "select_last_index",
                                                 "size",
                                                 "sorted",
                                                 "spatial_scale",
                                                 "start",
                                                 "storage_order",
                                                 "strides",
                                                 "time_axis",
                                                 "to",
                                                 "training_mode",
                                                 "transA",
                                                 "transB",
                                                 "type",
                                                 "upper",
                                                 "xs",
                                                 "y",
                                                 "zs"};

/// onnx-array-api prints a subgraph once for each level above it: 2^n texts for n nested ones.
constexpr int most_levels_repeated = 6;

bool is_known(std::string_view name) {
  return std::find(std::begin(known_attributes), std::end(known_attributes), name) !=
         std::end(known_attributes);
}

/// "[a,b,c]" below `least_cut` elements, else "7:[a,b...f,g]" with `ends` of each end.
template <class List, class Text>
std::string cut_list(const List& list, int least_cut, int ends, bool brackets, Text text) {
  std::vector<std::string> words;
  for (const auto& element : list) words.push_back(text(element));
  const auto count = static_cast<int>(words.size());
  if (count < least_cut)
    return brackets ? fmt::format("[{}]", fmt::join(words, ","))
                    : fmt::format("{}", fmt::join(words, ","));
  const auto first = words.begin() + ends, last = words.end() - ends;
  return fmt::format("{}:[{}...{}]", count, fmt::join(words.begin(), first, ","),
                     fmt::join(last, words.end(), ","));
}

std::string string_value(const std::string& bytes) {
  const std::string text = python_bytes(bytes);
  return text.size() > 50 ? text.substr(0, 40) + "..." + text.substr(text.size() - 10) : text;
}

class PrettyText {
 public:
  explicit PrettyText(fmt::memory_buffer& out) : out_(out) {}

  void model(const onnx::ModelProto& model) {
    opsets(model.opset_import());
    if (!model.doc_string().empty()) line("doc_string: {}", start_of(model.doc_string()));
    graph(model.graph(), 1);
    for (const onnx::FunctionProto& one : model.functions()) function(one);
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
    out_.push_back('\n');
  }

  /// Counts letters, not bytes: a UTF-8 text is cut as Python cuts it.
  static std::string start_of(const std::string& text) {
    std::size_t letters = 0, at = 0;
    for (; at < text.size(); ++at)
      if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && ++letters > 55) break;
    return letters < 55 ? text : text.substr(0, at) + "...";
  }

  template <class Opsets>
  void opsets(const Opsets& opsets) {
    for (const onnx::OperatorSetIdProto& opset : opsets)
      line("opset: domain={} version={}", python_string(opset.domain()), opset.version());
  }

  void value(std::string_view what, const onnx::ValueInfoProto& value) {
    const bool is_tensor = value.type().tensor_type().elem_type() != 0;
    const std::string_view name = numpy_name(value.type().tensor_type().elem_type());
    const std::string type = !is_tensor         ? "'NOTENSOR'"
                             : name == "object" ? "dtype('O')"
                                                : fmt::format("dtype('{}')", name);
    line("{}: name={} type={} shape={}", what, python_string(value.name()), type,
         shape(value.type()));
  }

  static std::string shape(const onnx::TypeProto& type) {
    std::vector<std::string> sizes;
    for (const auto& dimension : type.tensor_type().shape().dim())
      sizes.push_back(dimension.dim_value() > 0 ? fmt::format("{}", dimension.dim_value())
                                                : python_string(dimension.dim_param()));
    return sizes.empty() ? "None" : fmt::format("[{}]", fmt::join(sizes, ", "));
  }

  void initializer(const onnx::TensorProto& tensor) {
    std::string text =
        fmt::format("init: name={} type={} shape=({}{})", python_string(tensor.name()),
                    numpy_name(tensor.data_type()), fmt::join(tensor.dims(), ", "),
                    tensor.dims_size() == 1 ? "," : "");
    if (element_count(tensor) < 5)
      if (const std::string content = numpy_repr(tensor); !content.empty())
        text += " -- " + content;
    if (!tensor.doc_string().empty()) text = fmt::format("{:<70}-- {}", text, tensor.doc_string());
    line("{}", text);
  }

  const std::string& graph_name(const onnx::GraphProto& graph) {
    const auto [found, added] = graph_names_.try_emplace(&graph);
    if (added) found->second = fmt::format("G{}", graph_names_.size());
    return found->second;
  }

  std::string attribute_value(const AttributeProto& attribute) {
    const bool known = is_known(attribute.name());
    const auto number = [](auto value) { return fmt::format("{}", value); };
    const auto real = [](float value) { return python_float(value); };
    switch (attribute.type()) {
      case AttributeProto::INT:
        return fmt::format("{}", attribute.i());
      case AttributeProto::FLOAT:
        return known ? fmt::format("{:.2f}", attribute.f()) : python_float(attribute.f());
      case AttributeProto::INTS:
        return known ? fmt::format("[{}]", fmt::join(attribute.ints(), ","))
                     : cut_list(attribute.ints(), 6, 3, true, number);
      case AttributeProto::FLOATS:
        return cut_list(attribute.floats(), 5, 2, true, real);
      case AttributeProto::STRING:
        return string_value(attribute.s());
      case AttributeProto::STRINGS:
        return cut_list(attribute.strings(), 5, 2, false, python_bytes);
      case AttributeProto::TENSOR:
        return python_list_start(attribute.t(), 10);
      case AttributeProto::GRAPH:
        return graph_name(attribute.g());
      default:
        return fmt::format(".{}", static_cast<int>(attribute.type()));
    }
  }

  void node(const onnx::NodeProto& node, int level) {
    std::vector<std::string> inputs(node.input().begin(), node.input().end());
    for (const AttributeProto& attribute : node.attribute())
      inputs.push_back(attribute.ref_attr_name().empty()
                           ? attribute.name() + "=" + attribute_value(attribute)
                           : attribute.name() + "=$" + attribute.ref_attr_name());
    const bool plain = node.domain().empty() || node.domain() == "ai.onnx.ml";
    line("{:{}}{}{}({}) -> {}", "", 2 * level, node.op_type(),
         plain ? std::string() : "[" + node.domain() + "]", fmt::join(inputs, ", "),
         fmt::join(node.output(), ", "));
  }

  void nodes(const NodeList& nodes, const std::unordered_set<std::string>& given) {
    std::vector<const onnx::NodeProto*> ordered;
    ordered.reserve(static_cast<std::size_t>(nodes.size()));
    for (const int index : print_order(nodes)) ordered.push_back(&nodes[index]);
    const std::vector<int> levels = print_levels(ordered, given);
    for (std::size_t i = 0; i < ordered.size(); ++i) node(*ordered[i], levels[i]);
  }

  void graph(const onnx::GraphProto& graph, int level) {
    std::unordered_set<std::string> given;
    for (const onnx::ValueInfoProto& input : graph.input()) {
      given.insert(input.name());
      value("input", input);
    }
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      given.insert(tensor.name());
      initializer(tensor);
    }
    nodes(graph.node(), given);
    for (const onnx::ValueInfoProto& output : graph.output()) value("output", output);
    subgraphs(graph.node(), level);
  }

  /// All subgraphs below `nodes`, nested ones included: each is printed at every level above it.
  void subgraphs(const NodeList& nodes, int level) {
    for (const onnx::NodeProto& node : nodes) {
      // The tool searches subgraphs only in these operators, and prints one that it misses as a
      // name without a text; a subgraph of any operator is printed here.
      for (const AttributeProto& attribute : node.attribute()) {
        if (attribute.type() != AttributeProto::GRAPH) continue;
        const auto names = [](const auto& values) {
          std::vector<std::string> found;
          for (const auto& value : values) found.push_back(value.name());
          return fmt::format("{}", fmt::join(found, ","));
        };
        line("----- subgraph ---- {} - {} - att.{}={} -- level={} -- {} -> {}", node.op_type(),
             node.name(), attribute.name(), graph_name(attribute.g()), level,
             names(attribute.g().input()), names(attribute.g().output()));
        graph(attribute.g(), level + 1);
        if (level < most_levels_repeated) subgraphs(attribute.g().node(), level);
      }
    }
  }

  void function(const onnx::FunctionProto& function) {
    line("----- function name={} domain={}", function.name(), function.domain());
    if (!function.doc_string().empty())
      line("----- doc_string: {}", start_of(function.doc_string()));
    opsets(function.opset_import());
    for (const std::string& input : function.input()) line("input: {}", python_string(input));
    for (const std::string& name : function.attribute()) line("attribute: {}", python_string(name));
    nodes(function.node(), {function.input().begin(), function.input().end()});
    for (const std::string& output : function.output())
      line("output: name={} type=? shape=?", python_string(output));
    subgraphs(function.node(), 1);
  }

  fmt::memory_buffer& out_;
  std::unordered_map<const onnx::GraphProto*, std::string> graph_names_;
};

}  // namespace

void write_pretty(fmt::memory_buffer& out, const onnx::ModelProto& model) {
  PrettyText(out).model(model);
}

}  // namespace symprof::report
