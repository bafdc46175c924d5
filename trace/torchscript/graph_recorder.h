// Records a graph while operators run: maps tensors to values, and calls to nodes.
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
  /// `notes_releases`: nodes list the values they release, according to the walked frames; false if
  /// Python lines give the lifetimes.
  explicit GraphRecorder(Graph& graph, bool notes_releases = true)
      : graph_(graph), notes_releases_(notes_releases) {}

  /// Registers `tensor` as `value`, which has no producer.
  ValueId add_leaf(const at::Tensor& tensor, Value value);

  /// Registers `tensor` as the existing value `id`.
  void bind(const at::Tensor& tensor, ValueId id);

  /// True if `tensor` is a value of the graph.
  bool knows(const at::Tensor& tensor) const {
    return values_.contains(tensor.unsafeGetTensorImpl());
  }

  /// True if `tensor` is a value without a producer.
  bool is_leaf(const at::Tensor& tensor) const;

  /// Adds an executed call as a node. Real tensors among the arguments become constants. Throws
  /// Error for an argument that a graph cannot represent.
  void add_call(const c10::FunctionSchema& schema, std::span<const c10::IValue> arguments,
                std::span<const c10::IValue> results, ScopeId scope);

  /// Switches gradients from here on: opens a region, or closes the innermost one.
  void set_grad_mode(bool from, bool to, ScopeId scope);

  /// The value of a tensor. Real tensors, and fake ones not produced by a recorded call, become
  /// constants, with data if real and small.
  ValueId value_of(const at::Tensor& tensor);

  /// Adds dead results to the releases of the last node. Calls do this too.
  void note_releases();

  /// The function of a module may keep the tensors of `result` alive until it returns.
  void may_stay(const c10::IValue& result, ScopeId scope);

  /// Releases all remaining results at the last node.
  void release_rest();

 private:
  using WeakTensor = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  /// A result that may be released.
  struct Result {
    WeakTensor tensor;  // Keeps its address reserved.
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
  std::vector<at::Tensor> leaves_;  // Kept alive so that addresses are not reused.
  std::vector<Result> results_;
  std::map<std::string, int> names_;
  std::vector<bool> grad_modes_;  // Gradient modes replaced by open regions.
};

}  // namespace symprof::trace::torchscript
