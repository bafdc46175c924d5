#include "trace/exported/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trace/exported/scopes.h"
#include "trace/exported/tensor_meta.h"
#include "trace/graph/uses.h"
#include "trace/python/source/source_lines.h"
namespace symprof::trace::exported {
namespace {

/// True for unbacked symbols, which PyTorch names u0, u1, …
bool depends_on_data(const Dimension& dimension) {
  const std::string& symbol = dimension.symbol;
  return symbol.size() > 1 && symbol[0] == 'u' &&
         symbol.find_first_not_of("0123456789", 1) == std::string::npos;
}

/// Unbacked sizes depend on the example's data, so they are reset.
std::vector<Dimension> not_given(std::vector<Dimension> dimensions) {
  for (Dimension& dimension : dimensions)
    if (depends_on_data(dimension)) dimension.size = -1;
  return dimensions;
}

class GraphReader {
 public:
  explicit GraphReader(Json json, const Place& place) : json_(json), place_(place) {}

  ReadGraph read() {
    for (Json input : array(member(json_, "inputs", place_), place_)) add_input(input);
    for (Json node : array(member(json_, "nodes", place_), place_)) add_node(node);
    add_specs();
    add_scalars();
    for (const char* numbers : {"sym_int_values", "sym_bool_values", "sym_float_values"})
      add_known_numbers(numbers);
    return std::move(read_);
  }

 private:
  ValueId define(std::string_view name, ValueKind kind, const Place& place) {
    const auto [known, is_new] =
        read_.names.try_emplace(name, static_cast<ValueId>(read_.graph.values.size()));
    if (!is_new) fail(place, fmt::format("'{}' is defined a second time", name));
    return read_.graph.add_value({.name = std::string(name), .kind = kind});
  }

  void add_input(Json input) {
    const Tagged tag = tagged(input, place_);
    std::string_view name;
    if (tag.tag == "as_tensor") {
      name = text(member(tag.value, "name", place_), place_);
    } else if (const auto symbol = optional_member(tag.value, "as_name")) {
      name = text(*symbol, place_);
    } else {
      // Constants that the exporter inlined into nodes, but that remain graph inputs.
      read_.graph.inputs.push_back(read_.graph.add_value(
          {.name = fmt::format("constant_input_{}", read_.graph.inputs.size()),
           .kind = ValueKind::input}));
      return;
    }
    read_.graph.inputs.push_back(define(name, ValueKind::input, place_));
  }

  void add_node(Json json) {
    Node node;
    node.name = node_name(json);
    const Place place{place_.file, place_.record, node.name};
    set_operator(node, operator_name(text(member(json, "target", place), place)));
    for (Json input : array(member(json, "inputs", place), place))
      node.arguments.push_back({std::string(text(member(input, "name", place), place)),
                                argument_value(member(input, "arg", place), context_, place)});
    add_outputs(node, array(member(json, "outputs", place), place), place);
    if (node.op == "higher_order::with_effects") unwrap_effects(node, place);
    if (const auto metadata = optional_member(json, "metadata")) {
      if (const auto stack = optional_member(*metadata, "nn_module_stack"))
        node.scope = scopes_.intern(text(*stack, place));
      if (const auto stack = optional_member(*metadata, "stack_trace"))
        node.source = sources_.intern(text(*stack, place));
      if (const auto call = optional_member(*metadata, "torch_fn"))
        node.call = std::string(text(*call, place));
    }
    if (!node.op.starts_with("aten::") && !node.op.starts_with("builtin::"))
      others_.insert(node.outputs.begin(), node.outputs.end());
    read_.graph.nodes.push_back(std::move(node));
  }

  /// Files of PyTorch 2.6 and earlier name only results; a single result has its node's name.
  std::string node_name(Json json) const {
    if (const auto name = optional_member(json, "name"))
      if (const std::string_view given = text(*name, place_); !given.empty())
        return std::string(given);
    for (Json output : array(member(json, "outputs", place_), place_)) {
      const Json result = tagged(output, place_).value;
      for (const char* key : {"name", "as_name"})
        if (const auto name = optional_member(result, key)) return std::string(text(*name, place_));
    }
    const std::string_view target = text(member(json, "target", place_), place_);
    return fmt::format("{}_{}", target.substr(target.rfind('.') + 1), read_.graph.nodes.size());
  }

  static void set_operator(Node& node, OperatorName op) {
    node.op = std::move(op.op);
    node.overload = std::move(op.overload);
  }

  /// with_effects(token, operator, *arguments) returns a token and the operator's results; tokens
  /// order such operators, as the node order does too (torch/_higher_order_ops/effects.py).
  static void unwrap_effects(Node& node, const Place& place) {
    const auto* op = argument_at<std::string>(node, 1);
    if (op == nullptr || node.outputs.empty()) fail(place, "names no operator that it runs");
    set_operator(node, operator_name(*op));
    node.arguments.erase(node.arguments.begin(), node.arguments.begin() + 2);
    node.outputs.erase(node.outputs.begin());
  }

  void add_outputs(Node& node, simdjson::dom::array outputs, const Place& place) {
    for (Json output : outputs) {
      const Tagged tag = tagged(output, place);
      if (tag.tag == "as_tensors" || tag.tag == "as_optional_tensors") {
        node.outputs_are_list = true;
        for (Json element : array(tag.value, place)) add_optional(node, element, place);
      } else if (tag.tag == "as_tensor") {
        add_output(node, tag.value, "name", place);
      } else if (tag.tag == "as_optional_tensor") {
        add_optional(node, tag.value, place);
      } else if (optional_member(tag.value, "as_name")) {
        add_output(node, tag.value, "as_name", place);
      } else {
        node.outputs.push_back(no_value);  // None, an object, or a number known to the exporter.
      }
    }
  }

  /// A tensor, or `OptionalTensorArgument`.
  void add_optional(Node& node, Json element, const Place& place) {
    if (optional_member(element, "name")) return add_output(node, element, "name", place);
    if (const auto tensor = optional_member(element, "as_tensor"))
      return add_output(node, *tensor, "name", place);
    node.outputs.push_back(no_value);
  }

  /// The exporter names unused results "<node>_unused_<i>".
  void add_output(Node& node, Json json, std::string_view key, const Place& place) {
    const std::string_view name = text(member(json, key, place), place);
    const bool unused = name.find("_unused_") != std::string_view::npos &&
                        name.starts_with(node.name.substr(0, node.name.find("_unused_")));
    node.outputs.push_back(unused ? no_value : define(name, ValueKind::result, place));
  }

  void add_specs() {
    for (const auto [name, meta] : object(member(json_, "tensor_values", place_), place_)) {
      const auto found = read_.names.find(name);
      if (found == read_.names.end()) continue;
      TensorMeta tensor = tensor_meta(meta, {place_.file, place_.record, name});
      Value& value = read_.graph.values[static_cast<std::size_t>(found->second)];
      if (value.kind == ValueKind::result) {
        value.recorded_dtype = tensor.spec.dtype;
        if (others_.contains(found->second)) value.recorded_sizes = sizes_of(tensor);
      }
      if (value.kind == ValueKind::result && tensor.symbolic) {
        if (std::ranges::any_of(tensor.dimensions, depends_on_data))
          value.dimensions = not_given(std::move(tensor.dimensions));
        continue;
      }
      if (value.kind != ValueKind::result) value.requires_grad = tensor.requires_grad;
      value.spec = std::move(tensor.spec);
      value.dimensions = std::move(tensor.dimensions);
    }
    for (ValueId id : read_.graph.inputs)
      complete_dimensions(read_.graph.values[static_cast<std::size_t>(id)]);
  }

  /// Numbers, or expressions of symbols.
  static std::vector<Dimension> sizes_of(const TensorMeta& tensor) {
    if (!tensor.dimensions.empty()) return not_given(tensor.dimensions);
    std::vector<Dimension> sizes;
    for (const std::int64_t size : tensor.spec.sizes) sizes.push_back({size, {}});
    return sizes;
  }

  static void complete_dimensions(Value& value) {
    if (!value.spec || !value.dimensions.empty()) return;
    for (std::int64_t size : value.spec->sizes) value.dimensions.push_back({size, {}});
  }

  /// Inputs that are sizes: no spec, and one dimension for binding. The same for numbers read from
  /// data.
  void add_scalars() {
    const auto sizes = optional_member(json_, "sym_int_values");
    if (!sizes) return;
    for (const auto [name, size] : object(*sizes, place_)) {
      const auto found = read_.names.find(name);
      if (found == read_.names.end()) continue;
      Value& value = read_.graph.values[static_cast<std::size_t>(found->second)];
      const Dimension read = dimension(size, place_);
      if (value.kind == ValueKind::result && depends_on_data(read))
        value.dimensions = not_given({read});
    }
    for (ValueId id : read_.graph.inputs) {
      Value& value = read_.graph.values[static_cast<std::size_t>(id)];
      const auto size = value.spec ? std::nullopt : optional_member(*sizes, value.name);
      if (!size) continue;
      value.dimensions = {dimension(*size, place_)};
      if (value.dimensions[0].size >= 0) value.scalar = value.dimensions[0].size;
    }
  }

  /// Results that are numbers of the program: for one read from data, the exporter knows the value
  /// implied by assertions.
  void add_known_numbers(std::string_view key) {
    const auto numbers = optional_member(json_, key);
    if (!numbers) return;
    for (const auto [name, json] : object(*numbers, place_)) {
      const auto found = read_.names.find(name);
      if (found == read_.names.end()) continue;
      Value& value = read_.graph.values[static_cast<std::size_t>(found->second)];
      if (value.kind == ValueKind::result) value.scalar = fixed_number(json, place_);
    }
  }

  std::shared_ptr<const Graph> read_branch(Json json, const Place& place) {
    ReadGraph branch = read_graph(json, place);
    branch.graph.path = place.file;
    for (Json output : array(member(json, "outputs", place), place)) {
      const auto id = named_value(branch, output, place);
      branch.graph.outputs.push_back(id ? *id : add_constant(branch.graph, output, place));
    }
    return std::make_shared<const Graph>(std::move(branch.graph));
  }

  /// A result that is a number, or None.
  static ValueId add_constant(Graph& graph, Json output, const Place& place) {
    return graph.add_value({.name = fmt::format("constant_{}", graph.values.size()),
                            .kind = ValueKind::constant,
                            .scalar = fixed_number(output, place)});
  }

  static decltype(Value::scalar) fixed_number(Json json, const Place& place) {
    const Tagged tag = tagged(json, place);
    if (tag.tag == "as_int") return integer(tag.value, place);
    if (tag.tag == "as_float") return number(tag.value, place);
    if (tag.tag == "as_bool") return boolean(tag.value, place);
    return std::nullopt;
  }

  Json json_;
  Place place_;
  ReadGraph read_;
  std::set<ValueId> others_;  // Results of operators that are not PyTorch's.
  ScopeTable scopes_{read_.graph.scopes};
  SourceTable sources_{read_.graph.source_lines};
  ArgumentContext context_{
      [this](std::string_view name, const Place& place) { return read_.value(name, place); },
      [this](Json json, const Place& place) { return read_branch(json, place); }};
};

}  // namespace

ValueId ReadGraph::value(std::string_view name, const Place& place) const {
  const auto found = names.find(name);
  if (found == names.end())
    fail(place, fmt::format("uses '{}', which nothing before it defines", name));
  return found->second;
}

ReadGraph read_graph(Json graph, const Place& place) { return GraphReader(graph, place).read(); }

std::optional<ValueId> named_value(const ReadGraph& read, Json argument, const Place& place) {
  const Tagged tag = tagged(argument, place);
  if (tag.tag == "as_tensor")
    return read.value(text(member(tag.value, "name", place), place), place);
  if (const auto name = optional_member(tag.value, "as_name"))
    return read.value(text(*name, place), place);
  return std::nullopt;
}

}  // namespace symprof::trace::exported
