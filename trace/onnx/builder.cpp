#include "trace/onnx/builder.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "trace/graph/uses.h"
#include "trace/onnx/attention_join.h"
#include "trace/onnx/attributes.h"
#include "trace/onnx/composites.h"
#include "trace/onnx/definitions.h"
#include "trace/onnx/export_notes.h"
#include "trace/onnx/folded_norms.h"
#include "trace/onnx/linear_join.h"
#include "trace/onnx/norm_join.h"
#include "trace/onnx/parameter_names.h"
#include "trace/onnx/recorded_sizes.h"
#include "trace/onnx/tensors.h"

namespace symprof::trace {
namespace {
std::string operator_name(const onnx::NodeProto& node) {
  const bool is_default = node.domain().empty() || node.domain() == "ai.onnx";
  return (is_default ? "onnx" : node.domain()) + "::" + node.op_type();
}

/// An exporter lists a dropout's unused mask, which PyTorch does not create in evaluation.
void drop_unread_masks(Graph& graph) {
  const Uses uses(graph);
  for (Node& node : graph.nodes)
    if (node.op == "onnx::Dropout" && node.outputs.size() > 1 && node.outputs[1] != no_value &&
        uses.readers(node.outputs[1]).empty() && !uses.is_output(node.outputs[1]))
      node.outputs.resize(1);
}

}  // namespace

FunctionLibrary function_library(const onnx::ModelProto& model, const std::string& path) {
  FunctionLibrary library;
  for (const onnx::FunctionProto& function : model.functions())
    if (!library
             .try_emplace({domain_key(function.domain()), function.name(), function.overload()},
                          &function)
             .second)
      throw Error(path, fmt::format("the function {}::{} is defined twice", function.domain(),
                                    function.name()));
  return library;
}

GraphBuilder::GraphBuilder(Graph& graph, const FunctionLibrary& functions,
                           const Signature& signature, Reading reading)
    : graph_(graph),
      functions_(functions),
      signature_(signature),
      reading_(reading),
      scopes_(graph),
      path_(graph.path) {}

void GraphBuilder::build(const onnx::GraphProto& source, const std::vector<std::string>& captured) {
  Frame frame{.attributes = call_attributes_};
  if (source.sparse_initializer_size() > 0)
    throw Error(path_, "sparse initializers are not supported", "Store them as dense tensors.");
  for (const onnx::TensorProto& tensor : source.initializer()) add_initializer(tensor, frame);
  for (const onnx::ValueInfoProto& input : source.input())
    if (!frame.values.contains(input.name())) add_input(input, frame);
  for (const std::string& name : captured)
    graph_.inputs.push_back(define(name, Value{.name = name, .kind = ValueKind::input}, frame));
  add_nodes(source.node(), frame);
  for (const onnx::ValueInfoProto& output : source.output()) {
    const auto value = frame.values.find(output.name());
    if (value == frame.values.end())
      throw Error(path_, fmt::format("nothing defines the graph output '{}'", output.name()),
                  "Wanted: an output of a node, an input or an initializer of that name.");
    graph_.outputs.push_back(value->second);
  }
  note_sizes(source, frame.values, graph_);
  if (reading_ == Reading::as_exported) put_back();
}

/// Undoes exporter changes that its metadata reveals.
void GraphBuilder::put_back() {
  const std::vector<ValueId> read = read_initializers(graph_, initializers_);
  find_export_mode(graph_, exported_calls_);
  join_group_norms(graph_, call_names_, exported_calls_);
  find_folded_norms(graph_, call_names_, exported_calls_, signature_);
  const NamedParameters named =
      name_parameters(graph_, call_names_, exported_calls_, signature_, initializers_);
  join_linear(graph_, call_names_, named);
  join_attention(graph_, call_names_, exported_calls_);
  join_norms(graph_, call_names_);
  join_composites(graph_, call_names_);
  drop_unread_masks(graph_);
  drop_unread(graph_, read, initializers_);
  const std::vector<std::string> missing = missing_parameters(graph_, signature_, initializers_);
  const bool names_all =
      graph_.export_record.tells_arguments && !signature_.parameters.empty() && missing.empty();
  classify_initializers(graph_, initializers_, signature_, names_all);
  note_parameters(graph_, signature_, initializers_, named, missing);
}

void GraphBuilder::add_input(const onnx::ValueInfoProto& input, Frame& frame) {
  graph_.inputs.push_back(define(input.name(), input_value(input, path_), frame));
}

void GraphBuilder::add_initializer(const onnx::TensorProto& tensor, Frame& frame) {
  Value value{.name = tensor.name(), .kind = ValueKind::constant};
  const auto constant = constant_tensor(tensor, path_);
  value.spec = constant->spec;
  if (!constant->data.empty() || constant->spec.numel() == 0) value.constant = constant;
  initializers_.push_back(define(tensor.name(), std::move(value), frame));
}

ValueId GraphBuilder::define(const std::string& name, Value value, Frame& frame) {
  value.name = frame.prefix + name;
  budget_->spend(value.name.size(), path_);
  const auto [known, added] = frame.values.try_emplace(name, no_value);
  if (!added)
    throw Error(path_, fmt::format("'{}' is defined twice", value.name),
                "Every value of an ONNX graph has one definition.");
  return known->second = graph_.add_value(std::move(value));
}

void GraphBuilder::add_nodes(const NodeList& nodes, Frame& frame) {
  const auto is_defined = [&](const std::string& name) { return frame.values.contains(name); };
  for (const onnx::NodeProto* node : execution_order(nodes, is_defined, path_)) {
    const auto function =
        functions_.find({domain_key(node->domain()), node->op_type(), node->overload()});
    if (function != functions_.end())
      add_call(*node, *function->second, frame);
    else if (operator_name(*node) == "onnx::Constant")
      add_constant(*node, frame);
    else
      add_node(*node, frame);
  }
}

void GraphBuilder::add_node(const onnx::NodeProto& node, Frame& frame) {
  Node result;
  result.name = unique_name(node, frame);
  budget_->spend_entries(node.input_size() + node.output_size(), path_);
  result.op = operator_name(node);
  const bool in_function = frame.attributes != nullptr;
  result.scope = in_function ? frame.scope : scopes_.of_node(node, frame.scope);
  result.source = in_function ? frame.source : scopes_.last_source();
  if (!in_function) result.call = scopes_.last_call();
  call_names_.push_back(in_function ? "" : scopes_.last_call());
  note_exported_call(node, call_names_.back(), exported_calls_);
  for (const std::string& input : node.input()) {
    const ValueId id = input.empty() ? no_value : frame.values.at(input);
    if (id == no_value)
      result.arguments.push_back({"", NoArgument{}});
    else
      result.arguments.push_back({"", ValueRef{id}});
  }
  add_attributes(node, frame, result);
  for (const std::string& output : node.output())
    result.outputs.push_back(output.empty() ? no_value : define(output, Value{}, frame));
  graph_.nodes.push_back(std::move(result));
}

void GraphBuilder::add_constant(const onnx::NodeProto& node, Frame& frame) {
  if (node.attribute_size() != 1 || node.output_size() != 1)
    throw Error(
        where(node, frame),
        fmt::format("{} attributes and {} outputs", node.attribute_size(), node.output_size()),
        "Wanted: one attribute with the value, and one output.");
  Value value{.kind = ValueKind::constant};
  if (const auto* attribute = resolve(node.attribute(0), frame)) {
    const std::string& form = node.attribute(0).name();
    if (const auto constant = constant_attribute(*attribute, form, where(node, frame))) {
      value.spec = constant->spec;
      if (!constant->data.empty() || constant->spec.numel() == 0) value.constant = constant;
    } else {
      graph_.warnings.push_back(where(node, frame) + ": a constant of strings has no data here");
    }
  }
  define(node.output(0), std::move(value), frame);
}

void GraphBuilder::add_call(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                            Frame& caller) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end())
    throw Error(where(node, caller), fmt::format("the function {} calls itself", function.name()),
                "ONNX functions must not be recursive.");
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    throw Error(where(node, caller),
                fmt::format("{} inputs and {} outputs; the function {} has {} and {}",
                            node.input_size(), node.output_size(), function.name(),
                            function.input_size(), function.output_size()));
  const GraphBudget::Level level(*budget_, path_);
  budget_->spend_entries(function.input_size() + function.attribute_proto_size(), path_);
  const std::string name = unique_name(node, caller);
  CallAttributes attributes;
  for (const onnx::AttributeProto& standard : function.attribute_proto())
    attributes[standard.name()] = &standard;
  for (const onnx::AttributeProto& given : node.attribute())
    if (const auto* actual = resolve(given, caller)) attributes[given.name()] = actual;

  Frame frame{.attributes = &attributes, .prefix = name + "/"};
  const ScopeId parent =
      caller.attributes == nullptr ? scopes_.of_node(node, caller.scope) : caller.scope;
  const std::string& outer = graph_.scopes[static_cast<std::size_t>(parent)].path;
  const std::string last = name.substr(name.rfind('/') + 1);
  frame.scope =
      scopes_.find_or_add(parent, outer.empty() ? last : outer + "." + last, function.name());
  frame.source = caller.attributes == nullptr ? scopes_.last_source() : caller.source;
  for (int i = 0; i < function.input_size(); ++i) {
    const bool given = i < node.input_size() && !node.input(i).empty();
    frame.values[function.input(i)] = given ? caller.values.at(node.input(i)) : no_value;
  }
  const auto first_own = static_cast<ValueId>(graph_.values.size());
  calls_.push_back(&function);
  add_nodes(function.node(), frame);
  calls_.pop_back();

  bind_outputs(node, function, frame, first_own, caller);
}

void GraphBuilder::bind_outputs(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                                const Frame& callee, ValueId first_own, Frame& caller) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const auto value = callee.values.find(function.output(i));
    if (value == callee.values.end())
      throw Error(where(node, caller),
                  fmt::format("nothing in the function {} defines its output '{}'", function.name(),
                              function.output(i)));
    if (!caller.values.try_emplace(node.output(i), value->second).second)
      throw Error(path_, fmt::format("'{}' is defined twice", node.output(i)));
    if (value->second >= first_own)
      graph_.values[static_cast<std::size_t>(value->second)].name = caller.prefix + node.output(i);
  }
}

void GraphBuilder::add_attributes(const onnx::NodeProto& node, Frame& frame, Node& result) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const onnx::AttributeProto* actual = resolve(attribute, frame);
    if (actual == nullptr) continue;
    if (actual->type() == onnx::AttributeProto::GRAPH)
      add_subgraph(attribute.name(), actual->g(), frame, result.arguments);
    else if (auto value = attribute_value(*actual, where(node, frame)))
      result.arguments.push_back({attribute.name(), std::move(*value)});
    else
      graph_.warnings.push_back(
          fmt::format("{}: attribute '{}' is left out: its type {} is not read", where(node, frame),
                      attribute.name(), onnx::AttributeProto::AttributeType_Name(actual->type())));
  }
}

void GraphBuilder::add_subgraph(const std::string& name, const onnx::GraphProto& source,
                                Frame& frame, std::vector<Argument>& arguments) {
  const GraphBudget::Level level(*budget_, path_);
  const std::vector<std::string> captured = captured_names(source);
  auto body = std::make_shared<Graph>();
  body->path = path_;
  body->format = graph_.format, body->traits = graph_.traits;
  body->producer = graph_.producer;
  body->opsets = graph_.opsets;
  GraphBuilder builder(*body, functions_, signature_, reading_);
  builder.calls_ = calls_;
  builder.budget_ = budget_;
  builder.call_attributes_ = frame.attributes;
  builder.build(source, captured);
  std::vector<ListElement> values;
  for (const std::string& capture : captured) {
    const ValueId id = frame.values.at(capture);
    values.push_back(id == no_value ? ListElement{NoArgument{}} : ListElement{ValueRef{id}});
  }
  arguments.push_back({name + ".captures", std::move(values)});
  arguments.push_back({name, std::shared_ptr<const Graph>(std::move(body))});
}

const onnx::AttributeProto* GraphBuilder::resolve(const onnx::AttributeProto& attribute,
                                                  const Frame& frame) const {
  if (attribute.ref_attr_name().empty()) return &attribute;
  if (frame.attributes == nullptr)
    throw Error(path_, fmt::format("attribute '{}' refers to '{}' of a call, outside any function",
                                   attribute.name(), attribute.ref_attr_name()));
  const auto found = frame.attributes->find(attribute.ref_attr_name());
  return found == frame.attributes->end() ? nullptr : found->second;
}

std::string GraphBuilder::unique_name(const onnx::NodeProto& node, const Frame& frame) {
  const std::string base = frame.prefix + (node.name().empty() ? node.op_type() : node.name());
  budget_->spend(base.size(), path_);
  std::string name = base;
  while (!node_names_.insert(name).second)
    name = fmt::format("{}_{}", base, ++last_suffixes_[base]);
  return name;
}

std::string GraphBuilder::where(const onnx::NodeProto& node, const Frame& frame) const {
  const bool is_unnamed = node.name().empty() && node.output_size() > 0;
  const std::string name = is_unnamed ? "-> " + node.output(0) : node.name();
  return fmt::format("{}: node {}{} ({})", path_, frame.prefix, name, operator_name(node));
}

}  // namespace symprof::trace
