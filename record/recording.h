// The recording of one step, as plain data: the calls of each node, their inputs and outputs, the
// lifetimes of storages, and the tensors saved for backward.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor_spec.h"
#include "record/graph_pools.h"
#include "record/graph_traits.h"
#include "record/ids.h"
#include "record/lifetimes.h"
#include "record/rank.h"

namespace symprof {

/// The purpose of a storage. `activation` is any result of a call that is none of the others.
enum class StorageKind : std::uint8_t {
  parameter,
  buffer,
  input,
  gradient,  ///< A parameter's gradient, once it is in `.grad`.
  optimizer_state,
  activation,
  offloaded,      ///< The copy of a saved tensor in host memory.
  communication,  ///< Blocks of a parallel engine: buckets, buffers, whole parameters.
  kv_cache,  ///< Keys and values of earlier tokens; if made by a call, also of this step's tokens.
};

/// One block of device memory. `bytes` is the tensor's size; rounding to 512 is left to readers.
struct StorageRecord {
  std::int64_t bytes = 0;
  StorageKind kind = StorageKind::activation;
  CallId allocated_by = none;  ///< none: allocated before the step.
  NodeId node = none;          ///< The node that was running, or whose backward was running.
  bool on_device = true;       ///< False: host memory (small integers of shape arithmetic).
  std::int64_t stream = 0;     ///< The CUDA stream of its allocation; 0: the default stream.
  bool saved = false;          ///< Saved for backward by some autograd node.
  StorageId parameter = none;  ///< Gradients and optimizer states: their parameter.
  /// If the file does not show when Python releases it: the last node during which it may still be
  /// alive, and the reason.
  NodeId may_live_until = none;
  LifetimeUncertainty uncertainty = LifetimeUncertainty::none;
  /// A function that is not in the file received it: it may live until the end of the step.
  bool end_is_open = false;
};

/// A tensor of a call or node.
struct TensorRecord {
  std::int32_t spec = none;  ///< Index into Recording::specs; none: undefined or None.
  StorageId storage = none;
};

/// An integer, a bool or a list of them, flattened; for a string, 1 if it is not the default.
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
  std::vector<TensorRecord> outputs;  ///< Lists flattened; undefined outputs are included.
  std::vector<IntegerArgument> integers;
  std::int64_t stream = 0;          ///< The CUDA stream of the call; 0: the default stream.
  bool times_convolutions = false;  ///< Under torch.backends.cudnn.benchmark, in a program.
  /// cuBLAS, and cuDNN's convolutions and recurrent layers, may round fp32 numbers to TF32
  /// (torch.set_float32_matmul_precision, torch.backends.cudnn.allow_tf32); PyTorch's defaults.
  bool tf32_products = false, tf32_convolutions = true, tf32_recurrent = true;
};

enum class EventKind : std::uint8_t { allocate, free };

/// The micro-batches before an update in which an event happens.
enum class EventBatch : std::uint8_t {
  each,
  but_last,
  last,
  last_of_several,
  only,  ///< If there is only one.
};

/// Allocations and frees in order of time. An event belongs to the call that was running, or ran
/// last.
struct MemoryEvent {
  StorageId storage = none;
  CallId call = none;
  EventKind kind = EventKind::allocate;
  EventBatch batch = EventBatch::each;
};

enum class NodeKind : std::uint8_t { input, operation, output, loss, optimizer };

/// A graph node, an input, or a part of a step that is not in the graph.
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
  /// A size or the chosen branch depends on data; the upper bound was taken.
  bool upper_bound = false;
  /// Module scopes from the outermost in: index into Recording::modules.
  std::vector<std::int32_t> scopes;
  /// Index into Graph::nodes of the graph that ran, after the passes of the step; none for inputs,
  /// output, loss, optimizer and the nodes of a C++ module.
  std::int32_t graph_node = none;
  /// File and line of the program that made the call ("train.py:42"); empty if unknown.
  std::string source;
};

struct ModuleRecord {
  std::string path;
  std::string type;
};

/// The number of tokens in the key-value cache, in a step that has one.
struct KvCacheRecord {
  std::int64_t sequences = 0;     ///< In the batch.
  std::int64_t tokens = 0;        ///< In each sequence, before the step.
  std::int64_t added_tokens = 0;  ///< Added to each sequence by the step.
};

struct Recording {
  std::string path, format, producer;  ///< As in the Graph that ran.
  GraphTraits traits;                  ///< As in that.
  std::vector<ModuleRecord> modules;
  std::vector<NodeRecord> nodes;  ///< Inputs, graph nodes in order, output, loss, optimizer.
  std::vector<CallRecord> calls;  ///< In order of execution.
  std::vector<StorageRecord> storages;
  std::vector<MemoryEvent> events;
  /// In the order of events. For programs only, as are captures of CUDA graphs.
  std::vector<AllocatorRequest> allocator_requests;
  std::vector<CaptureStream> capture_streams;
  std::vector<TensorSpec> specs;
  std::vector<std::string> ops;
  std::int64_t parameter_count = 0;
  std::optional<KvCacheRecord> kv_cache;
  std::optional<RankRecord> rank;     ///< Of a step on several ranks.
  std::vector<std::string> warnings;  ///< May refer to settings (base/setting.h).
  bool has_export_masks = false;      ///< As in Graph (trace/graph/graph.h).
  /// A trace without Python source: lifetimes of variables are guessed.
  bool names_are_guessed = false;
  std::vector<std::int64_t> unregistered_bytes;  ///< As in Graph.
  /// Calls of a torch.autograd.Function's forward pass that an export inlined, in a training step:
  /// their backward pass is autograd's, not the function's.
  std::size_t inlined_function_calls = 0;
  /// Milliseconds of the simulated forward and backward pass on this machine (symprof's own speed).
  double forward_ms = 0, backward_ms = 0;
};

}  // namespace symprof
