// Writes a graph while operators run: which tensor is which value, and calls as nodes.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace::torchscript {

class GraphRecorder {
 public:
  /// `notes_releases`: nodes say which values go with them, as the frames that are walked hold
  /// them; false where lines of Python tell how long that is.
  explicit GraphRecorder(Graph& graph, bool notes_releases = true)
      : graph_(graph), notes_releases_(notes_releases) {}

  /// `tensor` is `value`, which no node makes.
  ValueId add_leaf(const at::Tensor& tensor, Value value);

  /// `tensor` is the value `id`, which the graph has already.
  void bind(const at::Tensor& tensor, ValueId id);

  /// Whether `tensor` is a value of the graph.
  bool knows(const at::Tensor& tensor) const {
    return values_.contains(tensor.unsafeGetTensorImpl());
  }

  /// Whether `tensor` is a value that no node makes.
  bool is_leaf(const at::Tensor& tensor) const;

  /// A call that ran as a node. Real tensors among the arguments become constants. Throws Error for
  /// an argument that a graph cannot hold.
  void add_call(const c10::FunctionSchema& schema, std::span<const c10::IValue> arguments,
                std::span<const c10::IValue> results, ScopeId scope);

  /// From here on gradients are on or off: a region, or the end of the innermost one.
  void set_grad_mode(bool from, bool to, ScopeId scope);

  /// The value that a tensor is. Fake tensors that no recorded call made, and real ones, become
  /// constants: with their data where they are real and small.
  ValueId value_of(const at::Tensor& tensor);

  /// Notes with the last node the results that nothing holds any more. Calls do it as well.
  void note_releases();

  /// The function of a module may hold what `result` holds until it returns.
  void may_stay(const c10::IValue& result, ScopeId scope);

  /// All results that are left go with the last node.
  void release_rest();

 private:
  using WeakTensor = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  /// A result that may die.
  struct Result {
    WeakTensor tensor;  // Keeps its address.
    ValueId id;
  };

  ArgumentValue argument(const c10::IValue& value, const c10::Argument& schema);
  static ArgumentValue number_of(const at::Scalar& number);
  ArgumentValue tensor_argument(const at::Tensor& tensor);
  ArgumentValue list_argument(const c10::IValue& value);
  void add_output(Node& node, const c10::IValue& result);
  std::string unique_name(const std::string& op);

  Graph& graph_;
  bool notes_releases_;
  std::unordered_map<const at::TensorImpl*, ValueId> values_;
  std::vector<at::Tensor> leaves_;  // So that no later tensor has the address of a known one.
  std::vector<Result> results_;
  std::map<std::string, int> names_;
  std::vector<bool> grad_modes_;  // What the open regions have replaced.
};

}  // namespace symprof::trace::torchscript
