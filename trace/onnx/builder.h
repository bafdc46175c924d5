// Converts an ONNX graph to a Graph: names become values, local functions are inlined, subgraphs
// become nested graphs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/budget.h"
#include "trace/onnx/exported_call.h"
#include "trace/onnx/initializers.h"
#include "trace/onnx/order.h"
#include "trace/onnx/reading.h"
#include "trace/onnx/scopes.h"

namespace onnx {
class AttributeProto;
class FunctionProto;
class ModelProto;
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

namespace symprof::trace {

/// Local functions by domain, name and overload.
using FunctionLibrary =
    std::map<std::tuple<std::string, std::string, std::string>, const onnx::FunctionProto*>;

/// The local functions of a model, which must outlive them. Throws Error when one is defined twice.
FunctionLibrary function_library(const onnx::ModelProto& model, const std::string& path);

/// The attributes of the call that is being inlined, for attributes that refer to them.
using CallAttributes = std::unordered_map<std::string, const onnx::AttributeProto*>;

class GraphBuilder {
 public:
  /// `graph` has its path, format and opsets; the builder adds the rest.
  GraphBuilder(Graph& graph, const FunctionLibrary& functions, const Signature& signature,
               Reading reading);

  /// The whole graph: inputs, initializers, nodes and outputs. `captured` names are inputs too.
  void build(const onnx::GraphProto& source, const std::vector<std::string>& captured);

 private:
  /// The names in scope of one graph or function body.
  struct Frame {
    std::unordered_map<std::string, ValueId> values;
    const CallAttributes* attributes = nullptr;  ///< Null outside functions.
    std::string prefix;                          ///< Begins the names of values and nodes.
    ScopeId scope = 0;
    SourceId source = no_source;  ///< The call that is being inlined.
  };

  void put_back();
  void add_input(const onnx::ValueInfoProto& input, Frame& frame);
  void add_initializer(const onnx::TensorProto& tensor, Frame& frame);
  void add_nodes(const NodeList& nodes, Frame& frame);
  void add_node(const onnx::NodeProto& node, Frame& frame);
  void add_constant(const onnx::NodeProto& node, Frame& frame);
  void add_call(const onnx::NodeProto& node, const onnx::FunctionProto& function, Frame& caller);
  void bind_outputs(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                    const Frame& callee, ValueId first_own, Frame& caller);
  void add_attributes(const onnx::NodeProto& node, Frame& frame, Node& result);
  void add_subgraph(const std::string& name, const onnx::GraphProto& source, Frame& frame,
                    std::vector<Argument>& arguments);
  ValueId define(const std::string& name, Value value, Frame& frame);
  const onnx::AttributeProto* resolve(const onnx::AttributeProto& attribute,
                                      const Frame& frame) const;
  std::string unique_name(const onnx::NodeProto& node, const Frame& frame);
  std::string where(const onnx::NodeProto& node, const Frame& frame) const;

  Graph& graph_;
  const FunctionLibrary& functions_;
  const Signature& signature_;
  const Reading reading_;
  ScopeTable scopes_;
  std::vector<ValueId> initializers_;
  std::vector<std::string> call_names_;  ///< By node: the exporter's call; empty if unknown.
  ExportedCalls exported_calls_;
  std::unordered_set<std::string> node_names_;
  /// By name: the number of its last repetition.
  std::unordered_map<std::string, int> last_suffixes_;
  std::shared_ptr<GraphBudget> budget_ = std::make_shared<GraphBudget>();
  std::vector<const onnx::FunctionProto*>
      calls_;  ///< The functions being inlined, outermost first.
  const CallAttributes* call_attributes_ = nullptr;  ///< For a subgraph inside a function.
  std::string path_;
};

}  // namespace symprof::trace
