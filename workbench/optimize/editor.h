// A model's main graph while it is edited: producers and readers, constants, and types.
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

/// A size or a symbol; "": unknown.
struct Size {
  std::int64_t number = -1;
  std::string symbol;

  bool is_known() const { return number >= 0; }
  /// True if certainly equal.
  bool same(const Size& other) const {
    return is_known() ? number == other.number : !symbol.empty() && symbol == other.symbol;
  }
};

struct Type {
  std::int32_t element = 0;                ///< onnx::TensorProto::DataType; 0: unknown.
  std::optional<std::vector<Size>> sizes;  ///< Empty: unknown rank.

  bool is_static() const;
  bool same(const Type& other) const;  ///< Certainly equal dtype and sizes.
  std::optional<DType> dtype() const;
  std::vector<std::int64_t> numbers() const;  ///< The sizes of a static type.
};

class Editor {
 public:
  /// Takes the graph out of `model`, weights too; its Constants become constants of the editor.
  /// Types are those from infer_types(). New names avoid those of `elsewhere`. Both arguments must
  /// outlive it.
  Editor(onnx::ModelProto& model, const NameSet& elsewhere);
  /// Writes the graph back, nodes in topological order, used constants as initializers. The editor
  /// stays valid.
  void commit() { write_back(/*is_last=*/false); }
  /// The same without copies of nodes and weights. No other call may follow.
  void finish() { write_back(/*is_last=*/true); }

  /// Node indices are stable; a removed node is not alive.
  int end() const { return static_cast<int>(nodes_.size()); }
  bool is_alive(int node) const { return alive_[static_cast<std::size_t>(node)]; }
  const onnx::NodeProto& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  /// True if the node is ONNX's own `op`.
  bool is(int index, std::string_view op) const;
  /// The number of nodes in the node and its subgraphs, without Constants.
  int weight(int index) const;
  /// The weight of all nodes that are alive.
  int live_nodes() const { return live_; }
  /// The number of computed operands of live nodes, plus their outputs.
  std::int64_t edges() const { return edges_; }
  /// The number of operands of live nodes, constants included.
  std::int64_t operands() const { return operands_; }
  std::int64_t einsums() const { return einsums_; }
  std::int64_t opset() const { return opset_; }
  std::int64_t ir_version() const { return model_.ir_version(); }

  /// The node that makes a value; -1: none.
  int maker(const std::string& value) const;
  /// Nodes that read it, without duplicates.
  const std::vector<int>& readers(const std::string& value) const;
  bool is_output(const std::string& value) const { return outputs_.contains(value); }
  /// True if exactly one node reads it, once, and nothing else.
  bool is_private(const std::string& value) const;
  /// True if the name must be kept: it is an output, or read by a subgraph.
  bool is_pinned(const std::string& value) const {
    return is_output(value) || captured_.contains(value);
  }
  Type type(const std::string& value) const;
  /// Changes the type; commit() leaves it to be inferred.
  void set_type(const std::string& value, const Type& type) {
    types_[value] = type;
    retyped_.insert(value);
  }
  /// The value of a constant with available data; else null.
  ConstantPointer constant(const std::string& value) const;
  /// True for constants, including those with external data.
  bool is_constant(const std::string& value) const { return constants_.contains(value); }
  /// The number of a one-element constant.
  std::optional<double> number(const std::string& value) const;

  /// Integers of an input of a node, or of the attribute that older opsets use instead; empty if
  /// the input is no constant.
  std::optional<std::vector<std::int64_t>> integers_at(int node, int input,
                                                       std::string_view attribute) const;

  /// Adds a constant; small equal ones share a name, except parameters of the file.
  std::string add_constant(const ConstantPointer& value, const std::string& name);
  /// The same for a tensor in the file's format.
  std::string add_constant(onnx::TensorProto tensor, const std::string& name);
  /// An unused name.
  std::string fresh(const std::string& base);
  /// Adds a node that replaces `origin` and inherits its metadata. New outputs get `type`, and the
  /// model imports the node's domain, version 1, if it does not yet.
  int add(onnx::NodeProto node, int origin, const Type& type = {});
  void remove(int node);
  /// Removes the producers of the inputs of `gone`, a removed node, where nothing else reads them.
  void drop_unread(const onnx::NodeProto& gone);
  void set_input(int node, int input, const std::string& value);
  /// True if replace() needs no Identity.
  bool can_replace(const std::string& value, const std::string& by) const;
  /// Makes all readers of `value` read `by`. Requires can_replace().
  void replace(const std::string& value, const std::string& by);
  /// Replaces the node by constants: its readers read them.
  bool fold(int node, const std::vector<ConstantPointer>& results);

 private:
  struct Constant {
    onnx::TensorProto tensor;
    mutable ConstantPointer value;
    mutable bool was_read = false;
  };

  void take_nodes();
  void write_back(bool is_last);
  void write_constants(const std::unordered_set<std::string>& used, bool is_last);
  void share_constants(const std::vector<std::string>& names);
  /// A key of dtype, sizes and bytes for a small constant; empty for a large one.
  static std::string key_of(const ConstantTensor& value);
  void link(int node);
  void unlink(int node);
  std::int64_t edges_of(const onnx::NodeProto& node) const;
  /// Makes all readers of `value` read `by`, and changes nothing else.
  void redirect(const std::string& value, const std::string& by);
  static void name_apart(onnx::GraphProto& graph);
  void import_domain(std::string_view domain);
  void rename_output(const std::string& old, const std::string& now);

  onnx::ModelProto& model_;
  const NameSet& elsewhere_;
  std::deque<onnx::NodeProto> nodes_;
  std::vector<bool> alive_;
  std::vector<int> position_;  ///< A node's position in the file's order.
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

/// The type in an onnx proto.
Type type_of(const onnx::TypeProto& type);

}  // namespace symprof::workbench
