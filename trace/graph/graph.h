// A deep-learning graph as plain data, independent of the file format. Front ends write it, passes
// change it, the interpreter runs it. Nothing in here needs LibTorch.
//
// Public header.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/tensor_spec.h"
#include "record/graph_traits.h"

namespace symprof {

using ValueId = std::int32_t;  ///< Index into Graph::values.
using ScopeId = std::int32_t;  ///< Index into Graph::scopes; 0 is the root.
constexpr ValueId no_value = -1;
constexpr ScopeId no_scope = -1;
using SourceId = std::int32_t;  ///< Index into Graph::source_lines.
constexpr SourceId no_source = -1;

/// One dimension of a graph input. `symbol` is empty if the size is static; otherwise `size` is the
/// example's size, or -1 if the file has none and the user must give it.
struct Dimension {
  std::int64_t size = -1;
  std::string symbol;
};

enum class ValueKind : std::uint8_t {
  input,      ///< Given by the user at each step.
  parameter,  ///< Trainable (it gets a gradient).
  buffer,     ///< State that is not trained: running statistics, masks, tables.
  constant,   ///< Fixed data of the graph; `data` may be absent.
  result,     ///< Made by a node.
};

/// A tensor with its bytes (small: for shape arithmetic and scalars).
struct ConstantTensor {
  TensorSpec spec;
  std::vector<std::byte> data;  ///< Row-major; empty when the file's data was not read.
};

struct Value {
  std::string name;
  ValueKind kind = ValueKind::result;
  /// Known for inputs, parameters, buffers and constants; for results only if in the file.
  std::optional<TensorSpec> spec;
  /// Inputs: spec->sizes before binding; one dimension for an input that is a size itself. Results:
  /// empty, except for unbacked sizes (nonzero) and unbacked numbers (item), whose size is -1 until
  /// the user gives it.
  std::vector<Dimension> dimensions;
  std::shared_ptr<const ConstantTensor> constant;  ///< Constants (and small buffers) with data.
  /// Values with the same non-empty key share one storage (tied weights).
  std::string storage_key;
  /// Parameters: false if frozen. Other placeholders of a .pt2: as in the example.
  bool requires_grad = true;
  /// If the value is a number instead of a tensor: the example's number for an input, a constant's
  /// value, or a result's value from the file.
  std::optional<std::variant<std::int64_t, double, bool>> scalar;
  /// Results: the dtype at export or tracing time, if the file has it.
  std::optional<DType> recorded_dtype;
  /// Results of operators that are not PyTorch's: the sizes by the file, numbers or expressions.
  /// After binding, a size that is not known is -1. Empty if the file has none.
  std::optional<std::vector<Dimension>> recorded_sizes;
  /// Results of a trace (TorchScript): the module whose functions may keep the value in a variable
  /// that the file does not show; no_scope if the file shows it.
  ScopeId may_stay_in = no_scope;
};

enum class MemoryFormat : std::uint8_t { contiguous, preserve, channels_last, channels_last_3d };
enum class Layout : std::uint8_t { strided, other };

struct ValueRef {
  ValueId id = no_value;
};
struct DeviceName {
  std::string name;
};
struct NoArgument {};  ///< None, or an omitted optional input.
/// An object of a registered custom class (torch.ScriptObject), opaque to the graph.
struct CustomObject {
  std::string class_name;
};
struct Graph;
struct Argument;

/// An element of a list that mixes numbers, values and None: `Tensor?[]`, `SymInt[]`.
using ListElement = std::variant<NoArgument, ValueRef, std::int64_t, double, bool>;

/// The last alternative is a list of lists, or, when its elements have names, a dictionary.
using ArgumentValue =
    std::variant<NoArgument, ValueRef, bool, std::int64_t, double, std::string, DType, MemoryFormat,
                 Layout, DeviceName, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<bool>, std::vector<std::string>, std::vector<ListElement>,
                 std::shared_ptr<const ConstantTensor>, std::shared_ptr<const Graph>,
                 std::complex<double>, CustomObject, std::vector<Argument>>;

struct Argument {
  std::string name;  ///< Schema argument or ONNX attribute; empty for a positional input.
  ArgumentValue value;
};

/// One operator call as the file writes it.
struct Node {
  std::string name;      ///< Unique in the graph.
  std::string op;        ///< "aten::conv2d", "onnx::Conv", "com.acme::FusedAttention".
  std::string overload;  ///< "default", "Tensor", … for ATen; empty elsewhere.
  std::vector<Argument> arguments;
  std::vector<ValueId> outputs;  ///< In schema order; no_value if an output is unused.
  /// True if a list result is unpacked (`split`): outputs are its elements.
  bool outputs_are_list = false;
  ScopeId scope = 0;
  SourceId source = no_source;  ///< The innermost line of Python that made the node, if known.
  /// The call of a PyTorch function that made the node, as the exporter names it: torch.export's
  /// "linear_1;builtin_function_or_method.linear", ONNX's "linear_1". Empty when the file has none.
  std::string call;
  /// Results that Python releases after this node, if the file's code shows it (TorchScript). Other
  /// values die as trace/python/lifetimes/lifetimes.h says.
  std::vector<ValueId> releases;
};

/// A module call (or an ONNX function call): the path in the module tree and the class.
struct Scope {
  std::string path;  ///< "encoder.layers.0.mlp"; a second call of one module ends in "@1".
  std::string type;  ///< "torch.nn.modules.linear.Linear", or the function's name.
  ScopeId parent = 0;
};

/// A loop, condition or `try` block of a Python function.
struct PythonBlock {
  std::int64_t line = 0;  ///< Its first.
  bool is_loop = false;

  bool operator==(const PythonBlock&) const = default;
};

/// The Python line of a function's frame when a node was created: in a multi-line statement, the
/// line of the executed expression.
struct SourceLine {
  std::string file;
  std::string function;
  std::int64_t line = 0;
  std::string text;             ///< Without the spaces around it; empty when the file has none.
  SourceId caller = no_source;  ///< The line that called the function.
  /// Enclosing blocks of its function, the outermost first; needs the Python source.
  std::vector<PythonBlock> blocks = {};
};

/// A graph output that the step writes back into a buffer (functionalized exports).
struct Mutation {
  ValueId target = no_value;  ///< The buffer or input.
  ValueId source = no_value;
};

/// The range of a symbol for which the graph was exported.
struct SymbolRange {
  std::string symbol;
  std::int64_t least = 0;
  std::optional<std::int64_t> most;
};

/// Keys or values of one attention after adding a key-value cache to the graph.
struct CachedTensor {
  ValueId past = no_value;     ///< For earlier tokens: an input of the graph.
  ValueId step = no_value;     ///< For the step's tokens.
  ValueId present = no_value;  ///< For all tokens: a result.
  /// The result after which `step` is released: variables keep it alive until keys and values are
  /// concatenated.
  ValueId step_until = no_value;
};

struct KeyValueCache {
  std::vector<CachedTensor> tensors;  ///< In concatenation order; empty: no cache.
  std::int64_t sequences = 0;         ///< In the batch.
  std::int64_t tokens = 0;            ///< In each sequence, before the step.
  std::int64_t added_tokens = 0;      ///< Tokens that the step adds to each sequence.
};

/// The mode in which a file was exported, if known.
enum class ExportMode : std::uint8_t { unknown, training, evaluation };

/// A batch norm that an exporter folded into the weights of the convolution or linear layer before
/// it. Names are paths in the model; empty: none.
struct FoldedNorm {
  ValueId result = no_value;  ///< Result of the node with the folded weights.
  std::string module;         ///< The norm's.
  /// True if the file has all following members, so the norm can be restored for training.
  bool is_known = false;
  std::string weight, bias, running_mean, running_var;
  double momentum = 0.1, epsilon = 1e-5;
  std::int64_t channels = 0;
  std::string product_module;  ///< Module of the layer before the norm.
  std::string product_bias;
};

/// Export facts from the metadata of an ONNX file.
struct ExportRecord {
  ExportMode mode = ExportMode::unknown;
  bool names_calls = false;      ///< Nodes name their PyTorch calls …
  bool tells_arguments = false;  ///< … and the calls' arguments.
  std::vector<FoldedNorm> folded_norms;
  /// Modules whose attention dropout is missing in the graph.
  std::vector<std::string> lost_dropouts;
};

/// A dtype that may be explicit in the code or taken from the model, whose dtype the user has
/// changed: the file does not show which.
struct GuessedDType {
  std::string name;  ///< Of the node with the dtype argument, or of the constant with the dtype.
  DType other = DType::float32;  ///< The dtype under the other guess.
  bool is_constant = false;
  bool is_corrected = false;  ///< Changed because CUDA would refuse a call with the first guess.
};

struct Graph {
  std::string path;      ///< The file.
  std::string format;    ///< For reports: "exported", "onnx", "torchscript", "module".
  GraphTraits traits;    ///< Properties of the file format that other code depends on.
  std::string producer;  ///< "pytorch 2.13.0".
  /// ONNX: the opset of each domain, for the operators that changed meaning.
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::vector<Scope> scopes = {Scope{}};
  std::vector<SourceLine> source_lines;  ///< A caller comes before the lines that it calls.
  std::vector<Value> values;
  std::vector<Node> nodes;  ///< In execution order.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<Mutation> mutations;
  std::vector<SymbolRange> symbol_ranges;
  KeyValueCache kv_cache;
  /// The dtype to which the user converts the model.
  std::optional<DType> cast_to;
  std::vector<GuessedDType> guessed_dtypes;
  /// Names of casts that were no-ops at export and whose dtype may be explicit in the code or taken
  /// from a tensor, which may differ under autocast.
  std::vector<std::string> kept_casts;
  /// Sizes depend on numbers in the file; these are tracked like those of inputs.
  bool follows_values = false;
  ExportRecord export_record;
  std::vector<std::string> warnings;  ///< May refer to settings (base/setting.h).
  bool has_export_masks = false;      ///< Has masks that code creates only for export or tracing.
  /// Lower bounds of the bytes of unregistered tensor attributes of modules (neither parameter nor
  /// buffer, so not in files), from the constructors' Python. A single 0 if constructors were read
  /// and have none; empty if none was read.
  std::vector<std::int64_t> unregistered_bytes;

  ValueId add_value(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size()) - 1;
  }
  Value& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
};

/// Calls `visit(id)` for every value in an argument. For a mutable argument, `visit` may take a
/// ValueId& and change it.
template <class AnyArgument, class Visit>
requires std::same_as<std::remove_const_t<AnyArgument>, Argument>
void for_each_value(AnyArgument& argument, Visit&& visit) {
  if (auto* ref = std::get_if<ValueRef>(&argument.value)) {
    visit(ref->id);
  } else if (auto* list = std::get_if<std::vector<ListElement>>(&argument.value)) {
    for (auto& element : *list)
      if (auto* held = std::get_if<ValueRef>(&element)) visit(held->id);
  } else if (auto* nested = std::get_if<std::vector<Argument>>(&argument.value)) {
    for (auto& element : *nested) for_each_value(element, visit);
  }
}

/// Calls `visit(id)` for every value in the arguments of a node, in order.
template <class AnyNode, class Visit>
requires std::same_as<std::remove_const_t<AnyNode>, Node>
void for_each_value(AnyNode& node, Visit&& visit) {
  for (auto& argument : node.arguments) for_each_value(argument, visit);
}

namespace trace {

/// Throws Error if a node uses an undefined value, or a value is defined twice.
void verify(const Graph& graph);

}  // namespace trace
}  // namespace symprof
