#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <unordered_map>

#include "trace/onnx/reader.h"
#include "trace/onnx/tensors.h"
#include "trace/passes/training_mode.h"
#include "workbench/bare_model.h"
#include "workbench/compare/side.h"
#include "workbench/inline.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

RowShape shape_of(const onnx::TensorShapeProto& shape) {
  RowShape sizes;
  for (const auto& dimension : shape.dim())
    if (dimension.has_dim_value())
      sizes.emplace_back(dimension.dim_value());
    else
      sizes.emplace_back(dimension.dim_param());
  return sizes;
}

std::string dtype_of(std::int32_t type) { return std::string(numpy_name(type)); }

/// Adds rows in execution order, and records which row has a name's value.
class RowMaker {
 public:
  explicit RowMaker(const onnx::GraphProto& graph) : graph_(graph) {}

  std::vector<Row> of_a_run() {
    for (const onnx::TensorProto& tensor : graph_.initializer()) add_initializer(tensor);
    for (const onnx::ValueInfoProto& input : graph_.input())
      if (!made_.contains(input.name())) add(RowKind::input, input.name(), {});
    for (const onnx::NodeProto& node : graph_.node()) add_results(node);
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      Row& row = rows_[add(RowKind::output, output.name(), {})];
      row.operands.assign(1, made_.contains(output.name()) ? made_.at(output.name()) : no_row);
    }
    return std::move(rows_);
  }

  /// Rows by the name of their value.
  std::unordered_map<std::string, std::vector<std::size_t>> by_name() const { return by_name_; }

 private:
  std::size_t add(RowKind kind, const std::string& name, const std::string& op_type) {
    Row row;
    row.kind = kind;
    row.name = name;
    row.op_type = op_type;
    by_name_[name].push_back(rows_.size());
    if (kind != RowKind::output) made_.try_emplace(name, rows_.size());
    rows_.push_back(std::move(row));
    return rows_.size() - 1;
  }

  void add_initializer(const onnx::TensorProto& tensor) {
    Row& row = rows_[add(RowKind::initializer, tensor.name(), {})];
    row.dtype = dtype_of(tensor.data_type());
    row.shape.emplace(tensor.dims().begin(), tensor.dims().end());
  }

  void add_results(const onnx::NodeProto& node) {
    std::vector<std::size_t> operands;
    for (const std::string& input : node.input()) {
      const auto made = made_.find(input);
      operands.push_back(made == made_.end() ? no_row : made->second);
    }
    for (int k = 0; k < node.output_size(); ++k) {
      if (node.output(k).empty()) continue;
      Row& row = rows_[add(RowKind::result, node.output(k), node.op_type())];
      row.node = node.name();
      row.module = module_path(node);
      row.output = k;
      row.operands = operands;
    }
  }

  const onnx::GraphProto& graph_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> made_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

/// A row of a graph that is not run; onnx may not know its type.
Row typed_row(RowKind kind, const std::string& name, const std::string& op_type,
              const onnx::TypeProto* type) {
  Row row;
  row.kind = kind;
  row.name = name;
  row.op_type = op_type;
  row.shape.emplace();
  if (type != nullptr && type->has_tensor_type()) {
    row.dtype = dtype_of(type->tensor_type().elem_type());
    row.shape = shape_of(type->tensor_type().shape());
  }
  return row;
}

void infer_without_data(onnx::ModelProto& model) {
  try {
    onnx::shape_inference::InferShapes(model);
  } catch (const std::exception&) {
    // Keeps the types inferred so far.
  }
}

/// Initializers come first in a graph, in the file's order, whether or not names are restored.
void name_parameters_of(const onnx::ModelProto& model, Side& side) {
  const Graph named = trace::read_onnx(symprof::workbench::bytes_of(model, side.path), side.path);
  for (int i = 0; i < model.graph().initializer_size(); ++i) {
    const std::string& name = model.graph().initializer(i).name();
    const std::string& parameter = named.values.at(static_cast<std::size_t>(i)).name;
    if (parameter != name) side.parameters[name] = parameter;
  }
}

bool lacks_weights(const onnx::ModelProto& model, const Side& side) {
  return std::ranges::any_of(model.graph().initializer(), [&](const onnx::TensorProto& tensor) {
    return tensor.data_type() != onnx::TensorProto::STRING && !side.leaves.contains(tensor.name());
  });
}

}  // namespace

Side side_of(const onnx::ModelProto& model, const std::string& path, Training training) {
  Side side{.path = path};
  RowMaker maker(model.graph());
  side.rows = maker.of_a_run();
  onnx::ModelProto opened = model;
  inline_functions(opened, "inline", path);
  side.graph =
      trace::read_onnx(bytes_of(bare_model(opened, path, side.leaves, MissingWeights::leave), path),
                       path, trace::Reading::as_written);
  if (training == Training::off || lacks_weights(model, side)) name_parameters_of(model, side);
  if (training == Training::off) trace::set_training_mode(side.graph, trace::TrainingMode::eval);
  side.rows_of.resize(side.graph.values.size());
  auto by_name = maker.by_name();
  for (std::size_t id = 0; id < side.graph.values.size(); ++id)
    if (const auto rows = by_name.find(side.graph.values[id].name); rows != by_name.end()) {
      side.rows_of[id] = rows->second;
      by_name.erase(rows);
    }
  return side;
}

std::vector<Row> node_rows(const onnx::ModelProto& model, const std::string& path) {
  onnx::ModelProto typed = model;
  infer_without_data(typed);
  const onnx::GraphProto& graph = typed.graph();
  std::unordered_map<std::string, const onnx::TypeProto*> types;
  for (const auto* list : {&graph.value_info(), &graph.output(), &graph.input()})
    for (const onnx::ValueInfoProto& value : *list) types.try_emplace(value.name(), &value.type());
  std::vector<Row> rows;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    Row row = typed_row(RowKind::initializer, tensor.name(), "INIT", nullptr);
    row.dtype = dtype_of(tensor.data_type());
    row.shape.emplace(tensor.dims().begin(), tensor.dims().end());
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL &&
        trace::onnx_dtype(tensor.data_type()))
      describe({trace::constant_tensor(tensor, path)}, row);
    rows.push_back(std::move(row));
  }
  for (const onnx::ValueInfoProto& input : graph.input())
    rows.push_back(typed_row(RowKind::input, input.name(), "INPUT", &input.type()));
  for (const onnx::NodeProto& node : graph.node()) {
    Row row = typed_row(RowKind::node, node.name(), node.op_type(), nullptr);
    row.shape.reset();
    rows.push_back(std::move(row));
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      const auto type = types.find(output);
      rows.push_back(typed_row(RowKind::result, output, node.op_type(),
                               type == types.end() ? nullptr : type->second));
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output())
    rows.push_back(typed_row(RowKind::output, output.name(), "OUTPUT", &output.type()));
  return rows;
}

}  // namespace symprof::workbench
