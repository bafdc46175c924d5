#include "workbench/optimize/editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "trace/onnx/order.h"
#include "trace/onnx/tensors.h"
#include "workbench/nodes.h"
#include "workbench/optimize/attributes.h"
#include "workbench/tensor_proto.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

constexpr std::size_t largest_shared_bytes = 256;

/// The tensor of a Constant, whatever its attribute; empty for texts and sparse tensors.
std::optional<onnx::TensorProto> constant_of(const onnx::NodeProto& node) {
  if (node.attribute_size() != 1 || !node.attribute(0).ref_attr_name().empty()) return std::nullopt;
  const onnx::AttributeProto& attribute = node.attribute(0);
  if (attribute.name() == "value") return attribute.t();
  onnx::TensorProto tensor;
  if (attribute.name() == "value_int" || attribute.name() == "value_ints") {
    tensor.set_data_type(onnx::TensorProto::INT64);
    if (attribute.name() == "value_int") {
      tensor.add_int64_data(attribute.i());
    } else {
      tensor.add_dims(attribute.ints_size());
      *tensor.mutable_int64_data() = attribute.ints();
    }
    return tensor;
  }
  if (attribute.name() == "value_float" || attribute.name() == "value_floats") {
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    if (attribute.name() == "value_float") {
      tensor.add_float_data(attribute.f());
    } else {
      tensor.add_dims(attribute.floats_size());
      *tensor.mutable_float_data() = attribute.floats();
    }
    return tensor;
  }
  return std::nullopt;
}

Type type_of_tensor(const onnx::TensorProto& tensor) {
  Type type{tensor.data_type(), std::vector<Size>()};
  for (const std::int64_t size : tensor.dims()) type.sizes->push_back({size, {}});
  return type;
}

void add_captured(const onnx::NodeProto& node, std::unordered_set<std::string>& captured) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.has_g())
      for (std::string& name : trace::captured_names(attribute.g()))
        captured.insert(std::move(name));
}

}  // namespace

bool Type::is_static() const {
  return sizes &&
         std::all_of(sizes->begin(), sizes->end(), [](const Size& one) { return one.is_known(); });
}

bool Type::same(const Type& other) const {
  if (element == 0 || element != other.element || !sizes || !other.sizes) return false;
  return std::equal(sizes->begin(), sizes->end(), other.sizes->begin(), other.sizes->end(),
                    [](const Size& a, const Size& b) { return a.same(b); });
}

std::optional<DType> Type::dtype() const { return trace::onnx_dtype(element); }

std::vector<std::int64_t> Type::numbers() const {
  std::vector<std::int64_t> out;
  if (sizes)
    for (const Size& one : *sizes) out.push_back(one.number);
  return out;
}

Type type_of(const onnx::TypeProto& proto) {
  Type type{proto.tensor_type().elem_type(), std::nullopt};
  if (!proto.tensor_type().has_shape()) return type;
  type.sizes.emplace();
  for (const auto& dimension : proto.tensor_type().shape().dim())
    type.sizes->push_back(
        {dimension.has_dim_value() ? dimension.dim_value() : -1, dimension.dim_param()});
  return type;
}

Editor::Editor(onnx::ModelProto& model, const NameSet& elsewhere)
    : model_(model), elsewhere_(elsewhere) {
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    if (plain_domain(opset.domain()).empty()) opset_ = opset.version();
  for (const auto* list : {&graph.value_info(), &graph.output(), &graph.input()})
    for (const onnx::ValueInfoProto& value : *list) types_[value.name()] = type_of(value.type());
  for (const onnx::ValueInfoProto& input : graph.input()) inputs_.insert(input.name());
  for (const onnx::ValueInfoProto& output : graph.output()) outputs_.insert(output.name());
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    types_[tensor.name()] = type_of_tensor(tensor);
    if (inputs_.contains(tensor.name())) continue;  // A default that a caller may override.
    constant_order_.push_back(tensor.name());
    constants_[constant_order_.back()].tensor.Swap(&tensor);
  }
  take_nodes();
}

void Editor::take_nodes() {
  int position = 0;
  std::vector<std::string> shared;
  for (onnx::NodeProto& node : *model_.mutable_graph()->mutable_node()) {
    ++position;
    if (workbench::is_constant(node) && node.output_size() == 1)
      if (auto tensor = constant_of(node)) {
        tensor->set_name(node.output(0));
        types_[node.output(0)] = type_of_tensor(*tensor);
        constants_[node.output(0)].tensor = std::move(*tensor);
        constant_order_.push_back(node.output(0));
        shared.push_back(node.output(0));
        continue;
      }
    nodes_.emplace_back().Swap(&node);
    alive_.push_back(true);
    position_.push_back(position);
    add_captured(nodes_.back(), captured_);
    link(end() - 1);
    live_ += weight(end() - 1);
  }
  share_constants(shared);
}

std::string Editor::key_of(const ConstantTensor& value) {
  if (value.data.size() > largest_shared_bytes) return {};
  std::string key = fmt::format("{}:", static_cast<int>(value.spec.dtype));
  for (const std::int64_t size : value.spec.sizes) key += fmt::format("{},", size);
  return key + ":" +
         std::string(reinterpret_cast<const char*>(value.data.data()), value.data.size());
}

void Editor::share_constants(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const ConstantPointer value = constant(name);
    const std::string key = value ? key_of(*value) : std::string();
    if (key.empty() || is_pinned(name)) continue;
    const auto [found, added] = by_bytes_.try_emplace(key, name);
    if (!added) replace(name, found->second);
  }
}

std::int64_t Editor::edges_of(const onnx::NodeProto& node) const {
  std::int64_t edges = node.output_size();
  for (const std::string& input : node.input()) edges += !input.empty() && !is_constant(input);
  return edges;
}

void Editor::link(int node) {
  edges_ += edges_of(nodes_[static_cast<std::size_t>(node)]);
  operands_ += nodes_[static_cast<std::size_t>(node)].input_size();
  einsums_ += nodes_[static_cast<std::size_t>(node)].op_type() == "Einsum";
  for (const std::string& output : nodes_[static_cast<std::size_t>(node)].output())
    if (!output.empty()) makers_[output] = node;
  for (const std::string& name : trace::names_read(nodes_[static_cast<std::size_t>(node)])) {
    std::vector<int>& list = readers_[name];
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
  }
}

void Editor::unlink(int node) {
  edges_ -= edges_of(nodes_[static_cast<std::size_t>(node)]);
  operands_ -= nodes_[static_cast<std::size_t>(node)].input_size();
  einsums_ -= nodes_[static_cast<std::size_t>(node)].op_type() == "Einsum";
  for (const std::string& output : nodes_[static_cast<std::size_t>(node)].output())
    if (const auto found = makers_.find(output); found != makers_.end() && found->second == node)
      makers_.erase(found);
  for (const std::string& name : trace::names_read(nodes_[static_cast<std::size_t>(node)]))
    std::erase(readers_[name], node);
}

bool Editor::is(int index, std::string_view op) const {
  return index >= 0 && is_alive(index) && node(index).op_type() == op &&
         plain_domain(node(index).domain()).empty();
}

int Editor::weight(int index) const {
  int weight = 1;
  for (const onnx::AttributeProto& attribute : node(index).attribute())
    if (attribute.has_g())
      for_all_nodes(attribute.g().node(), [&](const onnx::NodeProto& inside) {
        weight += !workbench::is_constant(inside);
      });
  return weight;
}

int Editor::maker(const std::string& value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? -1 : found->second;
}

const std::vector<int>& Editor::readers(const std::string& value) const {
  static const std::vector<int> none;
  const auto found = readers_.find(value);
  return found == readers_.end() ? none : found->second;
}

bool Editor::is_private(const std::string& value) const {
  const auto& list = readers(value);
  if (list.size() != 1 || is_pinned(value)) return false;
  const auto& reads = node(list.front()).input();
  return std::count(reads.begin(), reads.end(), value) == 1;
}

Type Editor::type(const std::string& value) const {
  const auto found = types_.find(value);
  return found == types_.end() ? Type() : found->second;
}

ConstantPointer Editor::constant(const std::string& value) const {
  const auto found = constants_.find(value);
  if (found == constants_.end()) return nullptr;
  const Constant& constant = found->second;
  if (!constant.was_read) {
    constant.was_read = true;
    try {
      if (constant.tensor.data_type() != onnx::TensorProto::STRING)
        constant.value = trace::constant_tensor(constant.tensor, value);
    } catch (const Error&) {  // A dtype without computation here.
    }
    if (constant.value && constant.value->data.empty() && constant.value->spec.numel() != 0)
      constant.value = nullptr;
  }
  return constant.value;
}

std::optional<double> Editor::number(const std::string& value) const {
  const ConstantPointer found = constant(value);
  if (!found || found->spec.numel() != 1) return std::nullopt;
  const auto numbers = reals_of(*found);
  return numbers.size() == 1 ? std::optional(numbers[0]) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> Editor::integers_at(int index, int input,
                                                             std::string_view attribute) const {
  const onnx::NodeProto& node = this->node(index);
  if (node.input_size() <= input || node.input(input).empty()) return integers(node, attribute);
  const ConstantPointer given = constant(node.input(input));
  return given ? std::optional(integers_of(*given)) : std::nullopt;
}

std::string Editor::fresh(const std::string& base) {
  const auto taken = [&](const std::string& name) {
    return types_.contains(name) || makers_.contains(name) || constants_.contains(name) ||
           captured_.contains(name) || inputs_.contains(name) || elsewhere_.contains(name);
  };
  std::string name = base;
  for (int i = 2; taken(name); ++i) name = fmt::format("{}__{}", base, i);
  return name;
}

std::string Editor::add_constant(const ConstantPointer& value, const std::string& base) {
  const std::string key = key_of(*value);
  if (const auto found = by_bytes_.find(key); !key.empty() && found != by_bytes_.end())
    return found->second;
  std::string name = fresh(base);
  Constant& constant = constants_[name];
  constant.tensor = tensor_proto(*value, name);
  constant.value = value;
  constant.was_read = true;
  constant_order_.push_back(name);
  types_[name] = type_of_tensor(constant.tensor);
  if (!key.empty()) by_bytes_[key] = name;
  return name;
}

std::string Editor::add_constant(onnx::TensorProto tensor, const std::string& base) {
  std::string name = fresh(base);
  tensor.set_name(name);
  types_[name] = type_of_tensor(tensor);
  constants_[name].tensor = std::move(tensor);
  constant_order_.push_back(name);
  return name;
}

int Editor::add(onnx::NodeProto node, int origin, const Type& type) {
  const onnx::NodeProto& old = this->node(origin);
  import_domain(plain_domain(node.domain()));
  if (node.metadata_props_size() == 0) *node.mutable_metadata_props() = old.metadata_props();
  if (node.name().empty()) node.set_name(old.name());
  for (const std::string& output : node.output())
    if (!output.empty() && (!types_.contains(output) || type.element != 0)) types_[output] = type;
  nodes_.push_back(std::move(node));
  alive_.push_back(true);
  position_.push_back(position_[static_cast<std::size_t>(origin)]);
  link(end() - 1);
  live_ += weight(end() - 1);
  return end() - 1;
}

void Editor::remove(int node) {
  unlink(node);
  alive_[static_cast<std::size_t>(node)] = false;
  live_ -= weight(node);
}

void Editor::drop_unread(const onnx::NodeProto& gone) {
  std::vector<std::string> values(gone.input().begin(), gone.input().end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int made = maker(values[i]);
    if (made < 0) continue;
    const onnx::NodeProto& producer = node(made);
    const bool is_read = std::any_of(
        producer.output().begin(), producer.output().end(),
        [&](const std::string& output) { return !readers(output).empty() || is_pinned(output); });
    if (is_read) continue;
    remove(made);
    values.insert(values.end(), producer.input().begin(), producer.input().end());
  }
}

void Editor::set_input(int index, int input, const std::string& value) {
  unlink(index);
  onnx::NodeProto& node = nodes_[static_cast<std::size_t>(index)];
  while (node.input_size() <= input) node.add_input("");
  node.set_input(input, value);
  link(index);
}

bool Editor::can_replace(const std::string& value, const std::string& by) const {
  if (!is_pinned(value)) return true;
  return !captured_.contains(value) && maker(by) >= 0 && !is_pinned(by);
}

void Editor::redirect(const std::string& value, const std::string& by) {
  const std::vector<int> list = readers(value);
  for (const int reader : list) {
    unlink(reader);
    for (std::string& input : *nodes_[static_cast<std::size_t>(reader)].mutable_input())
      if (input == value) input = by;
    link(reader);
  }
}

void Editor::rename_output(const std::string& old, const std::string& now) {
  const int node = maker(old);
  unlink(node);
  for (std::string& output : *nodes_[static_cast<std::size_t>(node)].mutable_output())
    if (output == old) output = now;
  link(node);
  redirect(old, now);
}

void Editor::replace(const std::string& value, const std::string& by) {
  redirect(value, by);
  if (!is_output(value)) return;
  if (const int old = maker(value); old >= 0) {
    unlink(old);  // So that it no longer makes the output.
    for (std::string& output : *nodes_[static_cast<std::size_t>(old)].mutable_output())
      if (output == value) output = fresh(value + "_unused");
    link(old);
  }
  rename_output(by, value);
}

bool Editor::fold(int index, const std::vector<ConstantPointer>& results) {
  const onnx::NodeProto copy = node(index);
  for (const std::string& output : copy.output())
    if (is_pinned(output)) return false;
  remove(index);
  for (int i = 0; i < copy.output_size(); ++i) {
    const std::string& output = copy.output(i);
    if (output.empty() || readers(output).empty()) continue;
    redirect(output, add_constant(results[static_cast<std::size_t>(i)], output + "_folded"));
  }
  return true;
}

}  // namespace symprof::workbench
