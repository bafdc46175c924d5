// A model's main graph under change: who makes and reads what, what is constant, and types.
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/tensor_spec.h"
#include "workbench/optimize/evaluate.h"
#include "workbench/optimize/subgraphs.h"

namespace symprof::workbench {

/// A size or a symbol; "" for one that is not known.
struct Size {
  std::int64_t number = -1;
  std::string symbol;

  bool is_known() const { return number >= 0; }
  /// Certainly the same.
  bool same(const Size& other) const {
    return is_known() ? number == other.number : !symbol.empty() && symbol == other.symbol;
  }
};

struct Type {
  std::int32_t element = 0;                ///< onnx::TensorProto::DataType; 0: not known.
  std::optional<std::vector<Size>> sizes;  ///< Empty: not even the rank is known.

  bool is_static() const;
  bool same(const Type& other) const;  ///< Certainly the same dtype and sizes.
  std::optional<DType> dtype() const;
  std::vector<std::int64_t> numbers() const;  ///< Of a static type.
};

class Editor {
 public:
  /// Takes the graph out of `model`; its Constants become constants of the editor. Types are those
  /// that infer_types() put there. No new name is one of `elsewhere`. Both have to outlive it.
  Editor(onnx::ModelProto& model, const NameSet& elsewhere);
  /// Puts the graph back, nodes in an order that can run, constants that are read as initializers.
  /// The editor goes on as it is.
  void commit();

  /// Nodes have indices that stay; one that was removed is not alive.
  int end() const { return static_cast<int>(nodes_.size()); }
  bool is_alive(int node) const { return alive_[static_cast<std::size_t>(node)]; }
  const onnx::NodeProto& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  /// Whether the node is ONNX's own `op`.
  bool is(int index, std::string_view op) const;
  /// The node, and those of its subgraphs, without Constants.
  int weight(int index) const;
  /// The weight of all nodes that are alive.
  int live_nodes() const { return live_; }
  /// Operands of live nodes that are computed, and their outputs.
  std::int64_t edges() const { return edges_; }
  /// Operands of live nodes, constants too.
  std::int64_t operands() const { return operands_; }
  std::int64_t einsums() const { return einsums_; }
  std::int64_t opset() const { return opset_; }
  std::int64_t ir_version() const { return model_.ir_version(); }

  /// The node that makes a value; -1 for what none makes.
  int maker(const std::string& value) const;
  /// Nodes that read it, each once.
  const std::vector<int>& readers(const std::string& value) const;
  bool is_output(const std::string& value) const { return outputs_.contains(value); }
  /// Read by one node alone, once, and nothing else.
  bool is_private(const std::string& value) const;
  /// The name has to stay: an output, or read by a subgraph.
  bool is_pinned(const std::string& value) const {
    return is_output(value) || captured_.contains(value);
  }
  Type type(const std::string& value) const;
  /// Another type than it had: commit() leaves it to be inferred.
  void set_type(const std::string& value, const Type& type) {
    types_[value] = type;
    retyped_.insert(value);
  }
  /// The value where it is a constant whose data is there; null otherwise.
  ConstantPointer constant(const std::string& value) const;
  /// A constant whose value may lie in another file.
  bool is_constant(const std::string& value) const { return constants_.contains(value); }
  /// The only number of a constant of one element.
  std::optional<double> number(const std::string& value) const;

  /// Integers of an input of a node, or of the attribute that older opsets have in its place; empty
  /// where the input is no constant.
  std::optional<std::vector<std::int64_t>> integers_at(int node, int input,
                                                       std::string_view attribute) const;

  /// A new constant; small equal ones share a name. Parameters of the file never do.
  std::string add_constant(const ConstantPointer& value, const std::string& name);
  /// The same of a tensor as a file has it.
  std::string add_constant(onnx::TensorProto tensor, const std::string& name);
  /// A name that nothing has.
  std::string fresh(const std::string& base);
  /// Adds a node that stands for `origin` and takes its metadata. Outputs that are new get `type`,
  /// and the model imports the node's domain, version 1 where it does not yet.
  int add(onnx::NodeProto node, int origin, const Type& type = {});
  void remove(int node);
  /// Removes what made the inputs of `gone`, a node that was removed, where nothing reads it now.
  void drop_unread(const onnx::NodeProto& gone);
  void set_input(int node, int input, const std::string& value);
  /// Whether replace() needs no Identity.
  bool can_replace(const std::string& value, const std::string& by) const;
  /// Lets all readers of `value` read `by`. Call can_replace() first.
  void replace(const std::string& value, const std::string& by);
  /// Makes the maker of `value` make it as a constant: its readers read the constant.
  bool fold(int node, const std::vector<ConstantPointer>& results);

 private:
  struct Constant {
    onnx::TensorProto tensor;
    mutable ConstantPointer value;
    mutable bool was_read = false;
  };

  void take_nodes();
  void share_constants(const std::vector<std::string>& names);
  /// Dtype, sizes and bytes of a small constant; empty for a large one.
  static std::string key_of(const ConstantTensor& value);
  void link(int node);
  void unlink(int node);
  std::int64_t edges_of(const onnx::NodeProto& node) const;
  /// Lets all readers of `value` read `by`, and nothing else.
  void redirect(const std::string& value, const std::string& by);
  static void name_apart(onnx::GraphProto& graph);
  void import_domain(std::string_view domain);
  void rename_output(const std::string& old, const std::string& now);

  onnx::ModelProto& model_;
  const NameSet& elsewhere_;
  std::deque<onnx::NodeProto> nodes_;
  std::vector<bool> alive_;
  std::vector<int> position_;  ///< Where in the file's order a node stands.
  std::unordered_map<std::string, int> makers_;
  std::unordered_map<std::string, std::vector<int>> readers_;
  std::unordered_set<std::string> outputs_, captured_, inputs_, retyped_;
  std::unordered_map<std::string, Constant> constants_;
  std::vector<std::string> constant_order_;
  std::map<std::string, std::string> by_bytes_;  ///< Names of small constants by type and bytes.
  std::unordered_map<std::string, Type> types_;
  std::int64_t opset_ = 0;
  int live_ = 0;
  std::int64_t edges_ = 0, operands_ = 0, einsums_ = 0;
};

/// The type that onnx's proto says.
Type type_of(const onnx::TypeProto& type);

}  // namespace symprof::workbench
