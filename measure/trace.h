// What was recorded of a program that ran: operators on the host, what the device did, and which of
// the two belong together.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording.h"

namespace symprof::measure {

using OperatorId = std::int32_t;  ///< Index into Trace::operators.

/// A range on a thread of the host. Nanoseconds of the recording's clock.
struct Operator {
  enum class Kind : std::uint8_t {
    op,    ///< A dispatched operator, or a node of autograd.
    mark,  ///< What the program named: a step of the profiler, an optimizer's step, a region.
  };
  std::string name;
  Kind kind = Kind::op;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int32_t thread = 0;        ///< Index into Trace::threads.
  OperatorId parent = none;       ///< The innermost range around it, on its thread.
  Phase phase = Phase::forward;   ///< Forward, backward or optimizer.
  bool is_autograd_node = false;  ///< Autograd's engine runs a node of its graph.
  /// Autograd's number of the node that runs, or of the next one to be made where the operator
  /// began.
  std::optional<std::int64_t> sequence;
  /// Of an autograd node: the thread whose forward pass made it, as the profiler counts threads; 0
  /// of an operator of a forward pass.
  std::int64_t forward_thread = 0;
  /// Sizes of its tensor arguments, an empty list for what is none; empty where none were recorded.
  std::vector<std::vector<std::int64_t>> input_sizes;
};

/// One thing that the device did. Nanoseconds of the recording's clock.
struct Activity {
  enum class Kind : std::uint8_t { kernel, copy, set };
  /// How far it could be followed back.
  enum class Link : std::uint8_t {
    tied,            ///< To a call of the host, and to the operator around that.
    no_operator,     ///< To a call outside of all operators.
    no_call,         ///< Its call was not recorded.
    no_correlation,  ///< The record does not say which call it belongs to.
  };
  std::string name;
  Kind kind = Kind::kernel;
  Link link = Link::no_correlation;
  bool from_graph = false;  ///< A CUDA graph launched it: its operator did not launch it alone.
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t device = 0, stream = 0;
  OperatorId op = none;  ///< The innermost range around its call.
  Phase phase = Phase::forward;

  std::int64_t duration_ns() const { return end_ns - begin_ns; }
};

struct Thread {
  std::string process, name;
};

struct Trace {
  std::string path;
  std::string device_name;             ///< Empty where the recording does not say.
  std::vector<Thread> threads;         ///< Of the host.
  std::vector<Operator> operators;     ///< By thread, then as they began; parents come first.
  std::vector<Activity> activities;    ///< As they began.
  std::vector<OperatorId> steps;       ///< The profiler's steps, as they began; may be empty.
  std::int64_t unreadable_events = 0;  ///< Left out: a time or a duration is missing or wrong.
};

/// The operator that a user would name: the innermost range from `from` outwards that is an
/// operator and no frame of autograd or of a compiler, else the innermost operator; none where
/// there is neither.
OperatorId named_operator(const Trace& trace, OperatorId from);

/// How long the device was busy: the union of its activities, in nanoseconds.
std::int64_t busy_ns(const Trace& trace);
/// The same of some, which have to stand in the order in which they began.
std::int64_t busy_ns(const std::vector<const Activity*>& activities);

/// Whether `name` is a node of autograd's graph: "AddmmBackward0", "CudnnConvolutionBackward",
/// "torch::autograd::AccumulateGrad", "autograd::engine::evaluate_function: …".
bool names_autograd_node(std::string_view name);

}  // namespace symprof::measure
