#include "workbench/optimize/check.h"

#include <fmt/format.h>
#include <onnx/checker.h>

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

constexpr std::int64_t largest_checked_bytes = 1024;

/// The model without its nodes and the data of its weights, which become inputs: the checker would
/// look for external data, which does not matter here.
onnx::ModelProto without_nodes(const onnx::ModelProto& model) {
  onnx::ModelProto out;
  out.set_ir_version(model.ir_version());
  *out.mutable_opset_import() = model.opset_import();
  *out.mutable_functions() = model.functions();
  const onnx::GraphProto& from = model.graph();
  onnx::GraphProto& to = *out.mutable_graph();
  to.set_name(from.name());
  *to.mutable_input() = from.input();
  *to.mutable_output() = from.output();
  *to.mutable_sparse_initializer() = from.sparse_initializer();
  std::set<std::string> inputs;
  for (const onnx::ValueInfoProto& input : from.input()) inputs.insert(input.name());
  for (const onnx::TensorProto& tensor : from.initializer()) {
    const bool is_outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    if (!is_outside && tensor_bytes(tensor) <= largest_checked_bytes) {
      *to.add_initializer() = tensor;
    } else if (!inputs.contains(tensor.name())) {
      onnx::ValueInfoProto& input = *to.add_input();
      input.set_name(tensor.name());
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(tensor.data_type());
      type.mutable_shape();
      for (const std::int64_t size : tensor.dims())
        type.mutable_shape()->add_dim()->set_dim_value(size);
    }
  }
  return out;
}

onnx::ModelProto without_weights(const onnx::ModelProto& model) {
  onnx::ModelProto out = without_nodes(model);
  *out.mutable_graph()->mutable_node() = model.graph().node();
  return out;
}

/// The nodes of a model in another one, as the checker wants them, until this is gone: ONNX Runtime
/// has SimplifiedLayerNormalization in ONNX's own domain, but onnx does not.
class LentNodes {
 public:
  LentNodes(onnx::ModelProto& from, onnx::ModelProto& to)
      : from_(*from.mutable_graph()->mutable_node()), to_(*to.mutable_graph()->mutable_node()) {
    to_.Swap(&from_);
    for (onnx::NodeProto& node : to_) {
      if (node.op_type() != "SimplifiedLayerNormalization") continue;
      moved_.emplace_back(&node, node.domain());
      node.set_domain("com.microsoft");
    }
  }
  ~LentNodes() {
    for (auto& [node, domain] : moved_) node->set_domain(domain);
    to_.Swap(&from_);
  }
  LentNodes(const LentNodes&) = delete;
  LentNodes& operator=(const LentNodes&) = delete;

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  Nodes &from_, &to_;
  std::vector<std::pair<onnx::NodeProto*, std::string>> moved_;
};

bool contradict(const Type& a, const Type& b) {
  if (a.element != 0 && b.element != 0 && a.element != b.element) return true;
  if (!a.sizes || !b.sizes) return false;
  if (a.sizes->size() != b.sizes->size()) return true;
  for (std::size_t i = 0; i < a.sizes->size(); ++i) {
    const Size &x = (*a.sizes)[i], &y = (*b.sizes)[i];
    if (x.is_known() && y.is_known() && x.number != y.number) return true;
  }
  return false;
}

}  // namespace

void check_model(onnx::ModelProto& model, const std::string& path, const std::string& what,
                 const std::string& advice) {
  onnx::ModelProto copy = without_nodes(model);
  const LentNodes nodes(model, copy);
  auto& contrib = *copy.add_opset_import();
  contrib.set_domain("com.microsoft");
  contrib.set_version(1);
  try {
    onnx::checker::check_model(copy);
  } catch (const std::exception& error) {
    std::string problem = error.what();
    problem = problem.substr(0, problem.find('\n'));
    throw Error(path, fmt::format("{}: {}", what, problem), advice);
  }
}

void check_types(const Editor& editor, const onnx::ModelProto& model, const std::string& path,
                 const std::string& what) {
  onnx::ModelProto copy = without_weights(model);
  infer_types(copy);
  for (const auto* list : {&copy.graph().value_info(), &copy.graph().output()})
    for (const onnx::ValueInfoProto& value : *list)
      if (editor.maker(value.name()) >= 0 &&
          contradict(type_of(value.type()), editor.type(value.name())))
        throw Error(path, fmt::format("{}: the type of '{}' is another one", what, value.name()),
                    "Please report this with the model; rules can be left out.");
}

}  // namespace symprof::workbench
