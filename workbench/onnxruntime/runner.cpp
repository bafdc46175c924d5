#include "workbench/onnxruntime/runner.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "trace/onnx/order.h"
#include "workbench/nodes.h"
#include "workbench/onnxruntime/runtime.h"
#include "workbench/tensor_proto.h"

namespace symprof::workbench {
namespace {

/// Weights up to this size are constants of the node's model, which some kernels require; larger
/// ones are inputs, to avoid copies.
constexpr std::size_t largest_embedded_bytes = std::size_t{1} << 20;

const ort::Runtime& runtime() {
  static const ort::Runtime one;
  return one;
}

/// The parts that are the same for all runs.
class NodeModels {
 public:
  NodeModels(Model model, std::string path) : model_(std::move(model)), path_(std::move(path)) {
    const onnx::GraphProto& graph = model_->graph();
    for (const onnx::FunctionProto& function : model_->functions())
      functions_.insert({std::string(plain_domain(function.domain())), function.name()});
    for (const onnx::ValueInfoProto& value : graph.value_info())
      types_[value.name()] = &value.type();
    for (const onnx::TensorProto& tensor : graph.initializer())
      initializers_[tensor.name()] = &tensor;
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string& name : trace::names_read(graph.node(i))) last_use_[name] = i;
    for (const onnx::ValueInfoProto& output : graph.output()) {
      types_[output.name()] = &output.type();
      last_use_[output.name()] = graph.node_size();
    }
  }

  const onnx::GraphProto& graph() const { return model_->graph(); }
  const std::string& path() const { return path_; }
  /// The last node that reads a value; 0 where none does.
  int last_use(const std::string& name) const {
    const auto found = last_use_.find(name);
    return found == last_use_.end() ? 0 : found->second;
  }

  /// A single-node model whose inputs have no types yet.
  onnx::ModelProto of_node(const onnx::NodeProto& node) const {
    onnx::ModelProto out;
    out.set_ir_version(model_->ir_version());
    *out.mutable_opset_import() = model_->opset_import();
    if (calls_function(node)) *out.mutable_functions() = model_->functions();
    onnx::GraphProto& graph = *out.mutable_graph();
    graph.set_name("node");
    *graph.add_node() = node;
    for (const std::string& name : node.output())
      if (!name.empty()) *graph.add_output() = described(name);
    return out;
  }

  /// An initializer of the file, such as a string tensor; null: no such name.
  const onnx::TensorProto* initializer(const std::string& name) const {
    const auto found = initializers_.find(name);
    return found == initializers_.end() ? nullptr : found->second;
  }

 private:
  bool calls_function(const onnx::NodeProto& node) const {
    if (functions_.empty()) return false;
    bool found = functions_.contains({std::string(plain_domain(node.domain())), node.op_type()});
    for (const onnx::AttributeProto& attribute : node.attribute())
      for_all_nodes(attribute.g().node(), [&](const onnx::NodeProto& inner) {
        found |= functions_.contains({std::string(plain_domain(inner.domain())), inner.op_type()});
      });
    return found;
  }

  /// A result with the element type given by the file, because the runtime does not infer it for
  /// every operator. Sizes are left to the runtime.
  onnx::ValueInfoProto described(const std::string& name) const {
    onnx::ValueInfoProto value;
    value.set_name(name);
    const auto known = types_.find(name);
    if (known == types_.end() || !known->second->has_tensor_type()) return value;
    if (const auto element = known->second->tensor_type().elem_type(); element != 0)
      value.mutable_type()->mutable_tensor_type()->set_elem_type(element);
    return value;
  }

  const Model model_;
  const std::string path_;
  std::set<std::pair<std::string, std::string>> functions_;
  std::unordered_map<std::string, const onnx::TypeProto*> types_;
  std::unordered_map<std::string, const onnx::TensorProto*> initializers_;
  std::unordered_map<std::string, int> last_use_;
};

/// One run of the main graph.
class NodeRun {
 public:
  NodeRun(const NodeModels& models, const ValueRunner::Leaves& leaves)
      : models_(models), leaves_(leaves) {}

  /// Runs the graph and calls `tell` for each result by name.
  void run(const std::function<void(const std::string&, const ort::Value&)>& tell) {
    const onnx::GraphProto& graph = models_.graph();
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto& node = graph.node(i);
      try {
        run_node(node);
      } catch (const Error& error) {
        throw error.inside(fmt::format("{}: {}", models_.path(),
                                       trace::describe(node, static_cast<std::size_t>(i))));
      }
      for (const std::string& name : node.output())
        if (!name.empty()) tell(name, *values_.at(name));
      drop_read_at(i, node);
    }
  }

 private:
  void run_node(const onnx::NodeProto& node) {
    onnx::ModelProto model = models_.of_node(node);
    std::vector<std::string> inputs;
    for (const std::string& name : std::set<std::string>(names_of(node)))
      if (is_input(name, *model.mutable_graph())) inputs.push_back(name);
    std::vector<const char*> input_names, output_names;
    std::vector<const ort::Value*> values;
    for (const std::string& name : inputs) {
      const ort::Value& value = *values_.at(name);
      onnx::ValueInfoProto& input = *model.mutable_graph()->add_input();
      input.set_name(name);
      *input.mutable_type() = runtime().type_of(value);
      input_names.push_back(name.c_str());
      values.push_back(&value);
    }
    for (const std::string& name : node.output())
      if (!name.empty()) output_names.push_back(name.c_str());
    const ort::OwnedSession session = runtime().session(bytes_of(model, models_.path()));
    std::vector<ort::OwnedValue> made = runtime().run(*session, input_names, values, output_names);
    for (std::size_t k = 0; k < made.size(); ++k) values_[output_names[k]] = std::move(made[k]);
  }

  static std::set<std::string> names_of(const onnx::NodeProto& node) {
    const std::vector<std::string> names = trace::names_read(node);
    return {names.begin(), names.end()};
  }

  /// True if a value is passed to the node's session; a small weight becomes a constant of `graph`.
  bool is_input(const std::string& name, onnx::GraphProto& graph) {
    if (values_.contains(name)) return true;
    const auto leaf = leaves_.find(name);
    const onnx::TensorProto* stored = models_.initializer(name);
    if (leaf == leaves_.end()) {
      if (stored == nullptr) throw Error(name, "its values are not there");
      *graph.add_initializer() = *stored;
      return false;
    }
    if (stored != nullptr && leaf->second->data.size() <= largest_embedded_bytes) {
      *graph.add_initializer() = tensor_proto(*leaf->second, name);
      return false;
    }
    values_[name] = runtime().value_of(*leaf->second);
    return true;
  }

  void drop_read_at(int index, const onnx::NodeProto& node) {
    for (const std::string& name : trace::names_read(node))
      if (models_.last_use(name) <= index) values_.erase(name);
    for (const std::string& name : node.output())
      if (models_.last_use(name) <= index) values_.erase(name);
  }

  const NodeModels& models_;
  const ValueRunner::Leaves& leaves_;
  std::unordered_map<std::string, ort::OwnedValue> values_;
};

std::unordered_map<std::string, ValueId> ids_of(const Graph& graph) {
  std::unordered_map<std::string, ValueId> ids;
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    ids.emplace(graph.values[i].name, static_cast<ValueId>(i));
  return ids;
}

}  // namespace

ValueRunner onnxruntime_runner(const Model& model, const std::string& path,
                               const ValueRunner& bounds) {
  runtime();
  const auto models = std::make_shared<const NodeModels>(model, path);
  const auto stream = [models](const Graph& graph, const ValueRunner::Leaves& leaves,
                               const ValueRunner::Sink& sink) {
    const auto ids = ids_of(graph);
    NodeRun(*models, leaves).run([&](const std::string& name, const ort::Value& value) {
      const auto id = ids.find(name);
      if (id == ids.end()) return;
      if (const auto tensors = runtime().tensors_of(value)) sink(id->second, *tensors);
    });
  };
  const auto run = [models](const Graph& graph, const ValueRunner::Leaves& leaves) {
    std::map<std::string, ValueRunner::Tensors> made;
    for (const ValueId id : graph.outputs) made[graph.value(id).name];
    NodeRun(*models, leaves).run([&](const std::string& name, const ort::Value& value) {
      if (const auto output = made.find(name); output != made.end())
        output->second = runtime().tensors_of(value).value_or(ValueRunner::Tensors());
    });
    std::vector<ValueRunner::Tensors> outputs;
    for (const ValueId id : graph.outputs) outputs.push_back(made.at(graph.value(id).name));
    return outputs;
  };
  return {.run = run, .stream = stream, .bounds = bounds.bounds};
}

std::string onnxruntime_version() { return runtime().version(); }

}  // namespace symprof::workbench
