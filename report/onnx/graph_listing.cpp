#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

#include "base/tensor_spec.h"
#include "report/onnx/listing.h"

namespace symprof::report {
namespace {

std::string value_type(const Value& value) {
  if (!value.spec) return {};
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < value.spec->sizes.size(); ++i) {
    const bool named = i < value.dimensions.size() && !value.dimensions[i].symbol.empty();
    sizes.push_back(named ? value.dimensions[i].symbol : fmt::format("{}", value.spec->sizes[i]));
  }
  return fmt::format("{}[{}]", name(value.spec->dtype), fmt::join(sizes, ","));
}

std::string named_value(const Value& value) {
  const std::string type = value_type(value);
  return type.empty() ? value.name : value.name + ": " + type;
}

std::string_view value_name(const Graph& graph, ValueId id) {
  return id == no_value ? "_" : std::string_view(graph.value(id).name);
}

std::string argument_text(const Graph& graph, const Argument& argument);

/// The text of each alternative of an argument.
struct ArgumentWriter {
  const Graph& graph;

  std::string operator()(const NoArgument&) const { return "None"; }
  std::string operator()(const ValueRef& value) const {
    return std::string(value_name(graph, value.id));
  }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  std::string operator()(DType value) const { return std::string(name(value)); }
  std::string operator()(const DeviceName& value) const { return value.name; }
  std::string operator()(MemoryFormat value) const {
    constexpr const char* names[] = {"contiguous", "preserve", "channels_last", "channels_last_3d"};
    return names[static_cast<std::size_t>(value)];
  }
  std::string operator()(symprof::Layout value) const {
    return value == symprof::Layout::strided ? "strided" : "other layout";
  }
  std::string operator()(const std::complex<double>& value) const {
    return fmt::format("{}+{}j", value.real(), value.imag());
  }
  std::string operator()(const CustomObject& value) const { return value.class_name; }
  std::string operator()(const std::shared_ptr<const ConstantTensor>& value) const {
    return fmt::format("{}[{}]", name(value->spec.dtype), fmt::join(value->spec.sizes, ","));
  }
  std::string operator()(const std::shared_ptr<const Graph>& value) const {
    return fmt::format("{{{} nodes}}", value->nodes.size());
  }
  std::string operator()(const std::vector<Argument>& list) const {
    std::vector<std::string> words;
    words.reserve(list.size());
    for (const Argument& one : list) words.push_back(argument_text(graph, one));
    return fmt::format("[{}]", fmt::join(words, ", "));
  }
  std::string operator()(const std::vector<bool>& list) const {
    std::vector<std::string> words;
    words.reserve(list.size());
    for (const bool one : list) words.push_back((*this)(one));
    return fmt::format("[{}]", fmt::join(words, ", "));
  }
  std::string operator()(const std::vector<ListElement>& list) const {
    std::vector<std::string> words;
    words.reserve(list.size());
    for (const ListElement& one : list) words.push_back(std::visit(*this, one));
    return fmt::format("[{}]", fmt::join(words, ", "));
  }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    return fmt::format("[{}]", fmt::join(list, ", "));
  }
  template <class T>
  requires std::is_arithmetic_v<T> std::string operator()(T value) const {
    return fmt::format("{}", value);
  }
};

std::string argument_text(const Graph& graph, const Argument& argument) {
  const std::string text = std::visit(ArgumentWriter{graph}, argument.value);
  return argument.name.empty() ? text : argument.name + "=" + text;
}

ListedNode listed_node(const Graph& graph, const Node& node) {
  ListedNode listed;
  listed.name = node.name;
  const Scope& scope = graph.scopes[static_cast<std::size_t>(node.scope)];
  listed.module = scope.path;
  listed.module_type = scope.type;
  std::vector<std::string> words;
  for (const Argument& argument : node.arguments) words.push_back(argument_text(graph, argument));
  const bool plain = node.overload.empty() || node.overload == "default";
  listed.call =
      fmt::format("{}{}({})", node.op, plain ? "" : "." + node.overload, fmt::join(words, ", "));
  for (const ValueId output : node.outputs)
    listed.results.push_back(output == no_value ? "_" : named_value(graph.value(output)));
  return listed;
}

}  // namespace

Listing listing_of(const Graph& graph, const std::string& title) {
  ListedGraph listed;
  listed.title = title;
  listed.heads.push_back(fmt::format("{} nodes{}", graph.nodes.size(),
                                     graph.producer.empty() ? "" : ", by " + graph.producer));
  ListedGraph::Section inputs{"inputs", {}}, parameters{"parameters", {}}, buffers{"buffers", {}},
      constants{"constants", {}}, outputs{"outputs", {}};
  for (const ValueId id : graph.inputs) inputs.lines.push_back(named_value(graph.value(id)));
  for (const Value& value : graph.values) {
    auto* section = value.kind == ValueKind::parameter  ? &parameters
                    : value.kind == ValueKind::buffer   ? &buffers
                    : value.kind == ValueKind::constant ? &constants
                                                        : nullptr;
    if (section) section->lines.push_back(named_value(value));
  }
  for (const ValueId id : graph.outputs) outputs.lines.emplace_back(value_name(graph, id));
  listed.above = {inputs, parameters, buffers, constants};
  listed.below = {outputs};
  listed.nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) listed.nodes.push_back(listed_node(graph, node));
  return {listed};
}

}  // namespace symprof::report
