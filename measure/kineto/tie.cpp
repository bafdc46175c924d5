#include "measure/kineto/tie.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "measure/kineto/kineto.h"

namespace symprof::measure {
namespace kineto {
namespace {

/// Sorts operators by thread and begin, outer ranges before inner ones.
std::vector<Operator> in_order(Events& events) {
  std::vector<std::size_t> order(events.operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const Operator& op = events.operators[i];
    return std::tuple(op.thread, op.begin_ns, -op.end_ns, events.order[i], i);
  });
  std::vector<Operator> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(events.operators[i]));
  return sorted;
}

/// The stack of open ranges while walking a thread. With times in whole microseconds, a range that
/// ends together with another is inside it.
class Nest {
 public:
  explicit Nest(const std::vector<Operator>& operators) : operators_(operators) {}

  /// The innermost range around one that ends at `end_ns`; ranges must come in order of their
  /// start.
  OperatorId around(std::int64_t end_ns) {
    while (!open_.empty() && at(open_.back()).end_ns < end_ns) open_.pop_back();
    return open_.empty() ? none : open_.back();
  }
  void open(OperatorId id) { open_.push_back(id); }
  void clear() { open_.clear(); }

 private:
  const Operator& at(OperatorId id) const { return operators_[static_cast<std::size_t>(id)]; }
  const std::vector<Operator>& operators_;
  std::vector<OperatorId> open_;
};

void nest(std::vector<Operator>& operators) {
  Nest nest(operators);
  std::int32_t thread = none;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].thread != thread) nest.clear();
    thread = operators[i].thread;
    operators[i].parent = nest.around(operators[i].end_ns);
    nest.open(static_cast<OperatorId>(i));
  }
}

/// The innermost range around each call.
std::vector<OperatorId> operators_of(const std::vector<HostCall>& calls,
                                     const std::vector<Operator>& operators) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::tuple(calls[i].thread, calls[i].begin_ns, -calls[i].end_ns);
  });
  std::vector<OperatorId> result(calls.size(), none);
  Nest nest(operators);
  std::size_t next = 0;
  std::int32_t thread = none;
  for (const std::size_t i : order) {
    const HostCall& call = calls[i];
    if (call.thread != thread) nest.clear();
    thread = call.thread;
    while (next < operators.size() && operators[next].thread < thread) ++next;
    for (; next < operators.size() && operators[next].thread == thread &&
           operators[next].begin_ns <= call.begin_ns;
         ++next) {
      nest.around(operators[next].end_ns);
      nest.open(static_cast<OperatorId>(next));
    }
    result[i] = nest.around(call.end_ns);
  }
  return result;
}

/// Threads of autograd's engine: all operators there are backward, including gradient sums, which
/// have no frame before PyTorch 1.10. For an operator of a forward pass, the profiler writes
/// forward thread 0.
std::vector<bool> backward_threads(const std::vector<Operator>& operators, std::size_t threads) {
  std::vector<bool> runs_nodes(threads), runs_forward(threads);
  for (const Operator& op : operators) {
    const auto thread = static_cast<std::size_t>(op.thread);
    if (op.is_autograd_node && op.sequence) runs_nodes[thread] = true;
    if (op.sequence && op.forward_thread == 0) runs_forward[thread] = true;
    if (op.name.starts_with("ProfilerStep#")) runs_forward[thread] = true;
  }
  for (std::size_t i = 0; i < threads; ++i) runs_nodes[i] = runs_nodes[i] && !runs_forward[i];
  return runs_nodes;
}

bool is_optimizers(std::string_view name) {
  return name.starts_with("Optimizer.step") || name.starts_with("Optimizer.zero_grad");
}

/// True for foreach updates, which a script may call without torch.optim. Inside an operator they
/// belong to it: compiled code copies its inputs with them.
bool updates_many_tensors(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  const std::string_view own = colons == std::string_view::npos ? name : name.substr(colons + 2);
  return own.starts_with("_foreach_") || own.starts_with("_fused_adam") ||
         own.starts_with("_fused_sgd") || own.starts_with("_fused_adagrad");
}

bool is_inside_operator(const std::vector<Operator>& operators, const Operator& op) {
  for (OperatorId id = op.parent; id != none; id = operators[static_cast<std::size_t>(id)].parent)
    if (operators[static_cast<std::size_t>(id)].kind == Operator::Kind::op) return true;
  return false;
}

/// The phase of an operator whose parents have theirs. An optimizer's step may call the model again
/// (closure), so backward is checked first.
Phase phase_of(const std::vector<Operator>& operators, const Operator& op,
               const std::vector<bool>& is_backward) {
  const Phase around =
      op.parent == none ? Phase::forward : operators[static_cast<std::size_t>(op.parent)].phase;
  if (is_optimizers(op.name)) return Phase::optimizer;
  if (around == Phase::backward || op.is_autograd_node ||
      is_backward[static_cast<std::size_t>(op.thread)])
    return Phase::backward;
  const bool updates = op.kind == Operator::Kind::op && updates_many_tensors(op.name) &&
                       !is_inside_operator(operators, op);
  return updates ? Phase::optimizer : around;
}

void find_phases(std::vector<Operator>& operators, std::size_t threads) {
  for (Operator& op : operators) op.is_autograd_node = names_autograd_node(op.name);
  const std::vector<bool> is_backward = backward_threads(operators, threads);
  for (Operator& op : operators) op.phase = phase_of(operators, op, is_backward);  // Parents first.
}

/// Calls by correlation id. Ids repeat after 32 bits; then the last call before the activity is
/// meant.
class CallFinder {
 public:
  explicit CallFinder(const std::vector<HostCall>& calls) : calls_(calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) by_id_[calls[i].correlation].push_back(i);
    for (auto& [id, known] : by_id_)
      std::ranges::sort(known, {}, [&](std::size_t i) { return calls[i].begin_ns; });
  }

  const HostCall* find(std::uint32_t correlation, std::int64_t begin_ns) const {
    const auto known = by_id_.find(correlation);
    if (known == by_id_.end()) return nullptr;
    const HostCall* found = &calls_[known->second.front()];
    for (const std::size_t i : known->second)
      if (calls_[i].begin_ns <= begin_ns) found = &calls_[i];
    return found;
  }

 private:
  const std::vector<HostCall>& calls_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_id_;
};

void tie_activities(Trace& trace, const Events& events) {
  const std::vector<OperatorId> operators = operators_of(events.calls, trace.operators);
  const CallFinder calls(events.calls);
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    Activity& activity = trace.activities[i];
    if (!events.correlations[i]) continue;
    const HostCall* call = calls.find(*events.correlations[i], activity.begin_ns);
    activity.link = Activity::Link::no_call;
    if (call == nullptr) continue;
    activity.from_graph = call->name.find("GraphLaunch") != std::string::npos;
    if (activity.from_graph) activity.graph_launch_ns = call->begin_ns;
    activity.op = operators[static_cast<std::size_t>(call - events.calls.data())];
    const OperatorId named = named_operator(trace, activity.op);
    activity.link = named == none ? Activity::Link::no_operator : Activity::Link::tied;
    if (activity.op != none)
      activity.phase = trace.operators[static_cast<std::size_t>(activity.op)].phase;
  }
}

/// Without marks of the profiler, updates tell the steps: each ends with one.
void find_updates(Trace& trace) {
  for (std::size_t i = 0; i < trace.operators.size(); ++i)
    if (trace.operators[i].name.starts_with("Optimizer.step#"))
      trace.updates.push_back(static_cast<OperatorId>(i));
  std::ranges::sort(trace.updates, {}, [&](OperatorId id) {
    return trace.operators[static_cast<std::size_t>(id)].begin_ns;
  });
}

void find_steps(Trace& trace) {
  for (std::size_t i = 0; i < trace.operators.size(); ++i)
    if (trace.operators[i].name.starts_with("ProfilerStep#"))
      trace.steps.push_back(static_cast<OperatorId>(i));
  std::ranges::sort(trace.steps, {}, [&](OperatorId id) {
    return trace.operators[static_cast<std::size_t>(id)].begin_ns;
  });
}

}  // namespace

Trace tie(Events events, const std::string& path) {
  Trace trace{.path = path,
              .device_name = events.device_name,
              .threads = events.threads,
              .operators = in_order(events),
              .activities = events.activities,
              .unreadable_events = events.unreadable,
              .arguments = std::move(events.arguments)};
  nest(trace.operators);
  find_phases(trace.operators, trace.threads.size());
  tie_activities(trace, events);
  find_steps(trace);
  if (trace.steps.empty()) find_updates(trace);
  std::ranges::stable_sort(trace.activities, {}, &Activity::begin_ns);
  return trace;
}

}  // namespace kineto

Trace read_kineto(const std::string& path, Arguments arguments) {
  return kineto::tie(kineto::read_events(path, arguments), path);
}

Trace parse_kineto(const std::string& text, const std::string& path, Arguments arguments) {
  return kineto::tie(kineto::parse_events(text, path, arguments), path);
}

}  // namespace symprof::measure
