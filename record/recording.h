// Everything that happened in one step, as plain data: which calls ran for which node, what they
// read and wrote, which storages lived from when to when, and what was saved for backward.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor_spec.h"
#include "record/ids.h"
#include "record/lifetimes.h"
#include "record/rank.h"

namespace symprof {

/// What a storage is for. `activation` is whatever a call made that is none of the others.
enum class StorageKind : std::uint8_t {
  parameter,
  buffer,
  input,
  gradient,  ///< A parameter's, once it is in `.grad`.
  optimizer_state,
  activation,
  offloaded,      ///< The copy of a saved tensor in host memory.
  communication,  ///< What an engine of several ranks takes: buckets, buffers, whole parameters.
  kv_cache,       ///< Keys and values of earlier tokens; if a call made it, of the step's too.
};

/// One block of device memory. `bytes` is what the tensor asked for; the allocator's rounding to
/// 512 is the reader's business.
struct StorageRecord {
  std::int64_t bytes = 0;
  StorageKind kind = StorageKind::activation;
  CallId allocated_by = none;  ///< none: there before the step.
  NodeId node = none;          ///< The node that was running, or whose backward was.
  bool on_device = true;       ///< False: host memory (small integers of shape arithmetic).
  std::int64_t stream = 0;     ///< The CUDA stream it was made for; 0: the default one.
  bool saved = false;          ///< Saved for backward by some autograd node.
  StorageId parameter = none;  ///< Gradients and optimizer states: their parameter.
  /// Where the file cannot tell when Python lets go of it: the last node during which it may still
  /// be held, and why.
  NodeId may_live_until = none;
  LifetimeDoubt doubt = LifetimeDoubt::none;
  /// A function that the file does not show had it: it may be held until the step is over.
  bool end_is_open = false;
};

/// A tensor as a call or node saw it.
struct TensorRecord {
  std::int32_t spec = none;  ///< Index into Recording::specs; none: undefined or None.
  StorageId storage = none;
};

/// An integer, a bool or a list of them, flattened; of a string, whether it is not the default.
struct IntegerArgument {
  std::uint8_t position = 0;  ///< Index of the schema argument.
  std::int64_t value = 0;
};

/// One ATen call below autograd.
struct CallRecord {
  std::int32_t op = none;  ///< Index into Recording::ops ("aten::addmm").
  Phase phase = Phase::forward;
  NodeId node = none;  ///< Never none once propagate returns.
  /// Tensor arguments in schema order, lists flattened; `input_positions` has the schema argument
  /// of each.
  std::vector<TensorRecord> inputs;
  std::vector<std::uint8_t> input_positions;
  std::vector<TensorRecord> outputs;  ///< Lists flattened; an undefined output keeps its place.
  std::vector<IntegerArgument> integers;
  std::int64_t stream = 0;          ///< The CUDA stream that it ran on; 0: the default one.
  bool times_convolutions = false;  ///< Under torch.backends.cudnn.benchmark, in a program.
  /// cuBLAS, and cuDNN's convolutions and recurrent layers, may round fp32 numbers to TF32
  /// (torch.set_float32_matmul_precision, torch.backends.cudnn.allow_tf32); PyTorch's defaults.
  bool tf32_products = false, tf32_convolutions = true, tf32_recurrent = true;
};

enum class EventKind : std::uint8_t { allocate, free };

/// In which of the micro-batches before an update an event happens.
enum class EventBatch : std::uint8_t {
  each,
  but_last,
  last,
  last_of_several,
  only,  ///< Where there is one.
};

/// Allocations and frees in the order in which they happened. An event belongs to the call that
/// was running, or ran last.
struct MemoryEvent {
  StorageId storage = none;
  CallId call = none;
  EventKind kind = EventKind::allocate;
  EventBatch batch = EventBatch::each;
};

enum class NodeKind : std::uint8_t { input, operation, output, loss, optimizer };

/// A graph node, an input, or one of the parts of a step that no graph has.
struct NodeRecord {
  std::string name;
  std::string op;      ///< "aten::conv2d", "onnx::Conv"; "input", "output", "loss", "optimizer".
  std::string module;  ///< Path of the module that made the call; empty at the root.
  std::string module_type;
  NodeKind kind = NodeKind::operation;
  std::vector<TensorRecord> inputs;  ///< Tensor arguments, parameters included.
  std::vector<TensorRecord> outputs;
  std::vector<StorageId> parameters;      ///< Distinct parameters among the inputs.
  std::int64_t input_gradient_bytes = 0;  ///< Gradients of inputs that are no parameters.
  /// Data decides a size, or which branch runs; the most that it can be was taken.
  bool upper_bound = false;
  /// Module scopes from the outermost in: index into Recording::modules.
  std::vector<std::int32_t> scopes;
  /// Index into Graph::nodes of the graph that ran, as the passes of the step left it; none for
  /// inputs, output, loss, optimizer and the nodes of a C++ module.
  std::int32_t graph_node = none;
  /// File and line of the program that made the call ("train.py:42"); empty where none is known.
  std::string source;
};

struct ModuleRecord {
  std::string path;
  std::string type;
};

/// How many tokens the key-value cache holds, in a step that has one.
struct KvCacheRecord {
  std::int64_t sequences = 0;     ///< In the batch.
  std::int64_t tokens = 0;        ///< In each sequence, before the step.
  std::int64_t added_tokens = 0;  ///< What the step adds to each sequence.
};

struct Recording {
  std::string path, format, producer;  ///< As in the Graph that ran.
  std::vector<ModuleRecord> modules;
  std::vector<NodeRecord> nodes;  ///< Inputs, graph nodes in order, output, loss, optimizer.
  std::vector<CallRecord> calls;  ///< In the order in which they ran.
  std::vector<StorageRecord> storages;
  std::vector<MemoryEvent> events;
  /// Where the program gave cached memory back (torch.cuda.empty_cache): the index of the event
  /// that came next, ascending. Of a program alone.
  std::vector<std::size_t> cache_emptied_before;
  std::vector<TensorSpec> specs;
  std::vector<std::string> ops;
  std::int64_t parameter_count = 0;
  std::optional<KvCacheRecord> kv_cache;
  std::optional<RankRecord> rank;     ///< Of a step on several ranks.
  std::vector<std::string> warnings;  ///< May refer to settings (base/setting.h).
  bool has_export_masks = false;      ///< As Graph has it (trace/graph/graph.h).
  /// Of a trace without its Python: how long names hold values is guessed, and so are their ends.
  bool names_are_guessed = false;
  std::vector<std::int64_t> unregistered_bytes;  ///< As Graph has it.
  /// Calls of a torch.autograd.Function's forward pass that an export wrote out, in a step that
  /// trains: their backward pass is autograd's, not the function's.
  std::size_t inlined_function_calls = 0;
  /// Milliseconds of the forward and the backward pass on this machine (how fast symprof is).
  double forward_ms = 0, backward_ms = 0;
};

}  // namespace symprof
