// Properties of a graph that depend on its front end. The reader of each file format sets them
// once; no other code depends on the format.
//
// Public header.
#pragma once

#include <string_view>

namespace symprof {

struct GraphTraits {
  /// Nodes are ATen's operators. Otherwise ONNX's, which take shapes and numbers as tensors.
  bool operators_are_aten = true;
  /// The reader took the user's inputs, sizes, mode and dtype into account: no pass binds them.
  bool inputs_are_bound = false;
  /// Nodes have the lines of the model's Python, and passes read them.
  bool has_python_lines = false;
  /// The reader entered every function that the model calls: a node's line is in the function that
  /// made it, at the first line of a statement, and values are released where the code does.
  bool functions_are_followed = false;
  /// The file has the body of a `with` block as a subgraph, called with the values that the block
  /// reads.
  bool blocks_are_calls = false;
  /// The forward pass of a torch.autograd.Function is written out, its backward pass lost.
  bool loses_own_backward = false;
  /// Value::requires_grad of an input comes from the file.
  bool knows_input_gradients = false;
  /// Value::recorded_dtype is set for every tensor that a node makes.
  bool records_dtypes = false;
  /// The exporter leaves out dropout, or folds norms, where a model is in evaluation mode
  /// (Graph::export_record).
  bool may_lack_layers = false;
  /// A tensor that a module keeps as a plain attribute, neither parameter nor buffer, and that
  /// nothing reads is not in the file.
  bool may_lack_attributes = false;
  /// Attention saves masks that the model's code makes only for an export.
  bool saves_export_masks = false;
  /// The file's weights are pickles, which LibTorch reads.
  bool weights_are_pickled = false;
  /// The beginning of the call that exports a model in this format, up to its last argument; empty
  /// for a traced program.
  std::string_view export_call;

  /// True if a node's line may be in the middle of a statement, or be the line that calls the
  /// function which made the node.
  bool has_outer_lines() const { return has_python_lines && !functions_are_followed; }
};

}  // namespace symprof
