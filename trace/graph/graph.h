// A deep-learning graph as plain data, whatever file it came from. Front ends write it, passes
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

/// One dimension of a graph input. `symbol` is empty when the file fixes it; otherwise `size` is
/// the example's size, or -1 when the file has none and the user must give it.
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

/// A tensor with its bytes (small: shape arithmetic and scalars need real numbers).
struct ConstantTensor {
  TensorSpec spec;
  std::vector<std::byte> data;  ///< Row-major; empty when the file's data was not read.
};

struct Value {
  std::string name;
  ValueKind kind = ValueKind::result;
  /// Known for inputs, parameters, buffers and constants; for results only if the file says so.
  std::optional<TensorSpec> spec;
  /// Inputs: spec->sizes before binding; one dimension for an input that is a size itself. Results:
  /// empty, but where sizes are unbacked (nonzero) or the value is an unbacked number (item); their
  /// size is -1 until the user gives it.
  std::vector<Dimension> dimensions;
  std::shared_ptr<const ConstantTensor> constant;  ///< Constants (and small buffers) with data.
  /// Values with the same non-empty key share one storage (tied weights).
  std::string storage_key;
  /// Parameters: false for a frozen one. Other placeholders of a .pt2: as the example's.
  bool requires_grad = true;
  /// Where the value is a number and no tensor: the example's number for an input, a constant's
  /// own, and for a result the number that the file says it has.
  std::optional<std::variant<std::int64_t, double, bool>> scalar;
  /// Results: the dtype in the run that the file was made from, where the file tells.
  std::optional<DType> recorded_dtype;
  /// Results of a trace (TorchScript): the module whose functions may have a name for the value
  /// that the file does not have; no_scope where the file tells.
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
struct NoArgument {};  ///< None, or an optional input that is left out.
/// An object of a class that a program registered (torch.ScriptObject): no graph says what it does.
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
  std::vector<ValueId> outputs;  ///< In schema order; no_value where an output is not used.
  /// True when results that are lists are taken apart (`split`): outputs are their elements.
  bool outputs_are_list = false;
  ScopeId scope = 0;
  SourceId source = no_source;  ///< The innermost line of Python that made the node, if known.
  /// The call of a PyTorch function that made the node, as the exporter names it: torch.export's
  /// "linear_1;builtin_function_or_method.linear", ONNX's "linear_1". Empty when the file has none.
  std::string call;
  /// Results that Python's functions let go when the node has run, where the file's code tells
  /// (TorchScript). What no node releases dies as trace/python/lifetimes/lifetimes.h says.
  std::vector<ValueId> releases;
};

/// A module call (or an ONNX function call): the path in the module tree and the class.
struct Scope {
  std::string path;  ///< "encoder.layers.0.mlp"; a second call of one module ends in "@1".
  std::string type;  ///< "torch.nn.modules.linear.Linear", or the function's name.
  ScopeId parent = 0;
};

/// A loop, a condition or a `try` of a function of Python.
struct PythonBlock {
  std::int64_t line = 0;  ///< Its first.
  bool is_loop = false;

  bool operator==(const PythonBlock&) const = default;
};

/// A line of Python at which a function was when a node was made: in a statement over several
/// lines, the line with the expression that ran.
struct SourceLine {
  std::string file;
  std::string function;
  std::int64_t line = 0;
  std::string text;             ///< Without the spaces around it; empty when the file has none.
  SourceId caller = no_source;  ///< The line that called the function.
  /// Those of its function that it lies in, the outermost first: where the Python itself is there.
  std::vector<PythonBlock> blocks = {};
};

/// A graph output that the step writes back into a buffer (functionalised exports).
struct Mutation {
  ValueId target = no_value;  ///< The buffer or input.
  ValueId source = no_value;
};

/// The values of a symbol that the graph was made for.
struct SymbolRange {
  std::string symbol;
  std::int64_t least = 0;
  std::optional<std::int64_t> most;
};

/// Keys or values of one attention whose graph was given a key-value cache.
struct CachedTensor {
  ValueId past = no_value;     ///< For earlier tokens: an input of the graph.
  ValueId step = no_value;     ///< For the step's tokens.
  ValueId present = no_value;  ///< For all tokens: a result.
  /// The result after which `step` is not needed any more: names hold it until keys and values are
  /// joined.
  ValueId step_until = no_value;
};

struct KeyValueCache {
  std::vector<CachedTensor> tensors;  ///< In the order in which they are joined; none: no cache.
  std::int64_t sequences = 0;         ///< In the batch.
  std::int64_t tokens = 0;            ///< In each sequence, before the step.
  std::int64_t added_tokens = 0;      ///< What the step adds to each sequence.
};

/// The mode in which a file was exported, where it tells.
enum class ExportMode : std::uint8_t { unknown, training, evaluation };

/// A batch norm that an exporter folded into the weights of the convolution or linear layer before
/// it. Names are paths in the model; an empty one stands for nothing.
struct FoldedNorm {
  ValueId result = no_value;  ///< What the node with the folded weights makes.
  std::string module;         ///< The norm's.
  /// Whether the file tells all that follows, so that training can have the norm back.
  bool is_known = false;
  std::string weight, bias, running_mean, running_var;
  double momentum = 0.1, epsilon = 1e-5;
  std::int64_t channels = 0;
  std::string product_module;  ///< Of the layer before the norm.
  std::string product_bias;
};

/// What the metadata of an ONNX file says of its export.
struct ExportRecord {
  ExportMode mode = ExportMode::unknown;
  bool names_calls = false;      ///< Nodes say which calls of PyTorch they were …
  bool tells_arguments = false;  ///< … and what those were given.
  std::vector<FoldedNorm> folded_norms;
  /// Modules whose attention has a dropout that the graph has not.
  std::vector<std::string> lost_dropouts;
};

/// A dtype of which the file does not show whether the code names it or takes the model's, which
/// the user has changed.
struct GuessedDType {
  std::string name;  ///< Of the node that is given the dtype, or of the constant that has it.
  DType other = DType::float32;  ///< What it would be had it been guessed the other way.
  bool is_constant = false;
  bool is_corrected = false;  ///< With the first guess CUDA would have refused a call.
};

struct Graph {
  std::string path;      ///< The file.
  std::string format;    ///< For reports: "exported", "onnx", "torchscript", "module".
  GraphTraits traits;    ///< What code asks instead of the format.
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
  /// The dtype that the user gave the model in the place of its own.
  std::optional<DType> cast_to;
  std::vector<GuessedDType> guessed_dtypes;
  /// Names of casts that did nothing when the file was made, and of which it does not show whether
  /// the code names their dtype or takes a tensor's, which may be another one under autocast.
  std::vector<std::string> kept_casts;
  /// Sizes follow from numbers that the file has, which are followed as those of inputs are.
  bool follows_values = false;
  ExportRecord export_record;
  std::vector<std::string> warnings;  ///< May refer to settings (base/setting.h).
  bool has_export_masks = false;      ///< Masks that code makes only to be exported or traced.
  /// Of each tensor that a module's constructor puts into an attribute and that is no parameter and
  /// no buffer, so in no file: what its Python says of it at least. A 0 where constructors were
  /// read and have none; empty where none was read.
  std::vector<std::int64_t> unregistered_bytes;

  ValueId add_value(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size()) - 1;
  }
  Value& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
};

/// Calls `visit(id)` for every value that an argument names. Where the argument is not const,
/// `visit` may take a ValueId& and change it.
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

/// Calls `visit(id)` for every value that the arguments of a node name, in order.
template <class AnyNode, class Visit>
requires std::same_as<std::remove_const_t<AnyNode>, Node>
void for_each_value(AnyNode& node, Visit&& visit) {
  for (auto& argument : node.arguments) for_each_value(argument, visit);
}

namespace trace {

/// Throws Error when a node uses a value that nothing defines before it, or two define one.
void verify(const Graph& graph);

}  // namespace trace
}  // namespace symprof
