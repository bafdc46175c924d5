// The trace of an executed program: host operators, device activities, and their links.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/operator_call.h"
#include "record/recording.h"

namespace symprof::measure {

using OperatorId = std::int32_t;  ///< Index into Trace::operators.

/// A range on a thread of the host. Nanoseconds of the recording's clock.
struct Operator {
  enum class Kind : std::uint8_t {
    op,    ///< A dispatched operator, or a node of autograd.
    mark,  ///< A named range: a profiler step, an optimizer step, a region.
  };
  std::string name;
  Kind kind = Kind::op;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int32_t thread = 0;        ///< Index into Trace::threads.
  OperatorId parent = none;       ///< The innermost range around it, on its thread.
  Phase phase = Phase::forward;   ///< Forward, backward or optimizer.
  bool is_autograd_node = false;  ///< A node run by autograd's engine.
  /// Autograd's sequence number of the running node, or of the next node created when the operator
  /// began.
  std::optional<std::int64_t> sequence;
  /// For an autograd node: the thread of its forward operator, in the profiler's numbering; 0 for a
  /// forward operator.
  std::int64_t forward_thread = 0;
  /// Sizes of each argument; an empty list for an argument that is no tensor. Empty if not
  /// recorded.
  std::vector<std::vector<std::int64_t>> input_sizes;
  /// Index into Trace::arguments; none if a trace does not tell types, strides and numbers.
  std::int32_t arguments = none;
};

/// One device activity. Nanoseconds of the recording's clock.
struct Activity {
  enum class Kind : std::uint8_t { kernel, copy, set };
  /// How far it could be linked to the host.
  enum class Link : std::uint8_t {
    tied,            ///< To a call of the host, and to the operator around that.
    no_operator,     ///< To a call outside of all operators.
    no_call,         ///< Its call was not recorded.
    no_correlation,  ///< The record has no correlation id.
  };
  std::string name;
  Kind kind = Kind::kernel;
  Link link = Link::no_correlation;
  bool from_graph = false;           ///< Launched by a CUDA graph, so not by its operator alone.
  std::int64_t graph_launch_ns = 0;  ///< Start of the call that launched that graph.
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t device = 0, stream = 0;
  OperatorId op = none;  ///< The innermost range around its call.
  Phase phase = Phase::forward;

  std::int64_t duration_ns() const { return end_ns - begin_ns; }
};

struct Thread {
  std::string process, name;
};

/// Whether Trace::arguments are read: of every operator, which takes time.
enum class Arguments : std::uint8_t { left_out, kept };

struct Trace {
  std::string path;
  std::string device_name;             ///< Empty if not recorded.
  std::vector<Thread> threads;         ///< Of the host.
  std::vector<Operator> operators;     ///< By thread, then in order of start; parents first.
  std::vector<Activity> activities;    ///< In order of start.
  std::vector<OperatorId> steps;       ///< The profiler's steps, in order of start; may be empty.
  std::vector<OperatorId> updates;     ///< Without steps: the optimizer's, in order of start.
  std::int64_t unreadable_events = 0;  ///< Skipped events with a missing or invalid time.
  /// Distinct lists of arguments, with all that the profiler writes of them.
  std::vector<std::vector<OperatorArgument>> arguments;
};

/// The user-visible operator: the innermost range from `from` outwards that is an operator but not
/// a frame of autograd or of a compiler, else the innermost operator; none without either.
OperatorId named_operator(const Trace& trace, OperatorId from);

/// Busy time of the device: the union of its activities, in nanoseconds.
std::int64_t busy_ns(const Trace& trace);
/// The same for some activities, in order of their start.
std::int64_t busy_ns(const std::vector<const Activity*>& activities);

/// True if `name` is a node of autograd's graph: "AddmmBackward0", "CudnnConvolutionBackward",
/// "torch::autograd::AccumulateGrad", "autograd::engine::evaluate_function: …".
bool names_autograd_node(std::string_view name);

}  // namespace symprof::measure
