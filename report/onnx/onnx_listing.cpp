#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "report/onnx/listing.h"
#include "report/onnx/python_text.h"
#include "report/write/format_number.h"
#include "workbench/nodes.h"
#include "workbench/types.h"

namespace symprof::report {
namespace {

using onnx::AttributeProto;
using workbench::element_count;
using workbench::is_constant;
using workbench::modules_of;
using workbench::numpy_name;
using workbench::plain_domain;
using workbench::qualified_op;
using workbench::tensor_bytes;
using workbench::type_text;
using workbench::value_types;

constexpr std::int64_t most_inline = 8;  ///< The most elements of a constant shown inline.
constexpr std::size_t longest_text = 60;

/// Numbers of float32 and narrower, with the digits that their precision has.
std::string short_text(const TensorElements& elements, std::size_t index) {
  const bool is_narrow =
      !elements.reals.empty() && elements.element_type != onnx::TensorProto::DOUBLE;
  return is_narrow ? fmt::format("{}", static_cast<float>(elements.reals[index]))
                   : element_text(elements, index);
}

/// "[1, 2]"; empty if the tensor is large or its values are unknown.
std::string small_value(const onnx::TensorProto& tensor) {
  if (element_count(tensor) > most_inline || tensor.dims_size() > 1) return {};
  const auto elements = elements_of(tensor, most_inline);
  if (!elements) return {};
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < element_count(tensor); ++i)
    words.push_back(short_text(*elements, static_cast<std::size_t>(i)));
  if (tensor.dims_size() == 0) return words.empty() ? std::string() : words.front();
  std::string text = fmt::format("[{}]", fmt::join(words, ", "));
  return text.size() <= longest_text ? text : std::string();
}

std::string list_text(const std::vector<std::string>& words) {
  constexpr std::size_t most = 8;
  if (words.size() <= most) return fmt::format("[{}]", fmt::join(words, ", "));
  return fmt::format("[{}, … {} in all]", fmt::join(words.begin(), words.begin() + most, ", "),
                     words.size());
}

template <class List, class Text>
std::string list_text(const List& list, Text text) {
  std::vector<std::string> words;
  for (const auto& element : list) words.push_back(text(element));
  return list_text(words);
}

std::string attribute_text(const AttributeProto& attribute) {
  if (!attribute.ref_attr_name().empty()) return "$" + attribute.ref_attr_name();
  const auto number = [](auto value) { return fmt::format("{}", value); };
  switch (attribute.type()) {
    case AttributeProto::INT:
      if (attribute.name() == "to" || attribute.name() == "dtype")
        return std::string(numpy_name(static_cast<std::int32_t>(attribute.i())));
      return number(attribute.i());
    case AttributeProto::FLOAT:
      return number(attribute.f());
    case AttributeProto::STRING:
      return python_string(attribute.s());
    case AttributeProto::INTS:
      return list_text(attribute.ints(), number);
    case AttributeProto::FLOATS:
      return list_text(attribute.floats(), number);
    case AttributeProto::STRINGS:
      return list_text(attribute.strings(), python_string);
    case AttributeProto::TENSOR:
      if (std::string value = small_value(attribute.t()); !value.empty()) return value;
      return type_text(attribute.t());
    case AttributeProto::GRAPH:
      return "{" + attribute.g().name() + "}";
    default:
      return AttributeProto::AttributeType_Name(attribute.type());
  }
}

/// The value of a Constant, from any of its attributes.
std::string constant_text(const onnx::NodeProto& node) {
  if (!is_constant(node) || node.attribute_size() != 1) return {};
  const AttributeProto& attribute = node.attribute(0);
  if (attribute.type() == AttributeProto::TENSOR) return small_value(attribute.t());
  if (std::max({attribute.ints_size(), attribute.floats_size(), attribute.strings_size()}) >
      most_inline)
    return {};
  return attribute_text(attribute);
}

class OnnxListing {
 public:
  explicit OnnxListing(Listing& out) : out_(out) {}

  ListedGraph graph(const onnx::GraphProto& source, std::string title) {
    ListedGraph listed;
    listed.title = std::move(title);
    types_ = value_types(source);
    for (const onnx::TensorProto& tensor : source.initializer()) note_constant(tensor);
    values(listed.above, "inputs", source.input());
    initializers(listed.above, source);
    nodes(listed, source.node());
    values(listed.below, "outputs", source.output());
    return listed;
  }

  void subgraphs() {
    while (!pending_.empty()) {
      const auto [title, inner] = pending_.front();
      pending_.pop_front();
      out_.push_back(graph(*inner, title));
    }
  }

  void function(const onnx::FunctionProto& source) {
    ListedGraph listed;
    listed.title = fmt::format("function {}", function_name(source));
    std::vector<std::string> inputs(source.input().begin(), source.input().end());
    listed.heads.push_back(
        fmt::format("({}) -> {}", fmt::join(inputs, ", "), fmt::join(source.output(), ", ")));
    if (source.attribute_size() > 0)
      listed.heads.push_back(fmt::format("attributes {}", fmt::join(source.attribute(), ", ")));
    types_.clear();
    constants_.clear();
    nodes(listed, source.node());
    out_.push_back(std::move(listed));
    subgraphs();
  }

  int constants() const { return inlined_; }

 private:
  static std::string function_name(const onnx::FunctionProto& function) {
    std::string name =
        function.domain().empty() ? function.name() : function.domain() + "." + function.name();
    if (!function.overload().empty()) name += ":" + function.overload();
    return name;
  }

  void note_constant(const onnx::TensorProto& tensor) {
    if (element_count(tensor) != 1 && tensor.dims_size() != 1) return;
    if (std::string text = small_value(tensor); !text.empty() && element_count(tensor) <= 4)
      constants_[tensor.name()] = std::move(text);
  }

  template <class Values>
  void values(std::vector<ListedGraph::Section>& sections, std::string name, const Values& values) {
    ListedGraph::Section section{std::move(name), {}};
    for (const onnx::ValueInfoProto& value : values)
      section.lines.push_back(fmt::format("{}: {}", value.name(), type_text(value.type())));
    sections.push_back(std::move(section));
  }

  void initializers(std::vector<ListedGraph::Section>& sections, const onnx::GraphProto& source) {
    ListedGraph::Section section{"initializers", {}};
    for (const onnx::TensorProto& tensor : source.initializer()) {
      std::string text = fmt::format("{}: {}", tensor.name(), type_text(tensor));
      if (const std::string value = small_value(tensor); !value.empty()) text += " = " + value;
      section.lines.push_back(std::move(text));
    }
    sections.push_back(std::move(section));
  }

  template <class Nodes>
  void nodes(ListedGraph& listed, const Nodes& nodes) {
    for (const onnx::NodeProto& node : nodes) {
      if (std::string text = constant_text(node); !text.empty() && node.output_size() == 1) {
        constants_[node.output(0)] = std::move(text);
        ++inlined_;
        continue;
      }
      listed.nodes.push_back(listed_node(node));
    }
  }

  ListedNode listed_node(const onnx::NodeProto& node) {
    ListedNode listed;
    listed.name = node.name().empty() ? node.op_type() : node.name();
    if (auto modules = modules_of(node); !modules.empty()) {
      listed.module = std::move(modules.back().path);
      listed.module_type = std::move(modules.back().type);
    }
    std::vector<std::string> words;
    for (const std::string& input : node.input()) {
      const auto constant = constants_.find(input);
      words.push_back(input.empty()                  ? "_"
                      : constant == constants_.end() ? input
                                                     : constant->second);
    }
    for (const AttributeProto& attribute : node.attribute()) {
      words.push_back(attribute.name() + "=" + attribute_text(attribute));
      if (attribute.type() == AttributeProto::GRAPH)
        pending_.emplace_back(
            fmt::format("subgraph {} of {} ({})", attribute.name(), listed.name, node.op_type()),
            &attribute.g());
    }
    listed.call = fmt::format("{}({})", qualified_op(node), fmt::join(words, ", "));
    for (const std::string& output : node.output()) {
      const auto type = types_.find(output);
      listed.results.push_back(output.empty() ? "_"
                               : type == types_.end() || type->second == "?"
                                   ? output
                                   : output + ": " + type->second);
    }
    return listed;
  }

  Listing& out_;
  std::unordered_map<std::string, std::string> types_, constants_;
  std::deque<std::pair<std::string, const onnx::GraphProto*>> pending_;  ///< Subgraphs to list.
  int inlined_ = 0;
};

std::string summary(const onnx::ModelProto& model, int constants) {
  std::int64_t bytes = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) bytes += tensor_bytes(tensor);
  std::string text = fmt::format("{} nodes", group_digits(model.graph().node_size()));
  if (constants > 0) text += fmt::format(" ({} constants written where they are read)", constants);
  text +=
      fmt::format(", {} initializers of {}", model.graph().initializer_size(), format_bytes(bytes));
  if (model.functions_size() > 0) text += fmt::format(", {} functions", model.functions_size());
  return text;
}

std::string opsets(const onnx::ModelProto& model) {
  std::vector<std::string> words;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    const std::string_view domain = plain_domain(opset.domain());
    words.push_back(fmt::format("{} {}", domain.empty() ? "opset" : domain, opset.version()));
  }
  std::string text = fmt::format("IR {}, {}", model.ir_version(), fmt::join(words, ", "));
  if (!model.producer_name().empty())
    text += fmt::format(", by {} {}", model.producer_name(), model.producer_version());
  return text;
}

}  // namespace

Listing listing_of(const onnx::ModelProto& model, const std::string& title) {
  Listing listing;
  OnnxListing reader(listing);
  listing.push_back(reader.graph(model.graph(), title));
  listing.front().heads = {summary(model, reader.constants()), opsets(model)};
  reader.subgraphs();
  for (const onnx::FunctionProto& function : model.functions()) reader.function(function);
  return listing;
}

}  // namespace symprof::report
