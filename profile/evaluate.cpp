// Evaluates a recording: every call gets the cost of its rule and belongs to exactly one node;
// calls without a rule are listed in the coverage and excluded from totals.
#include "profile/profile.h"

#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include "base/checked.h"
#include "profile/call_cost.h"
#include "profile/cost/cost.h"
#include "profile/figure_sums.h"
#include "profile/memory/step_memory.h"
#include "profile/node_bytes.h"
#include "profile/operators/operators.h"
#include "profile/own_rules.h"
#include "profile/program.h"

namespace symprof::profile {
namespace {

/// The rule of each of recording.ops; null without one.
std::vector<const Rule*> resolve(const Recording& recording, const OperatorTable* own) {
  const auto rule_of = [&](const std::string& op) { return find_operator(op, own).flops; };
  return recording.ops | ranges::views::transform(rule_of) | ranges::to<std::vector>();
}

/// All nodes, with capacity reserved for their calls.
std::vector<NodeProfile> empty_nodes(const Recording& recording) {
  std::vector<NodeProfile> nodes(recording.nodes.size());
  std::vector<std::size_t> calls(nodes.size());
  for (const CallRecord& call : recording.calls) {
    if (call.node < 0 || static_cast<std::size_t>(call.node) >= nodes.size())
      throw Error("profile", "call of " + recording.ops[call.op] + " belongs to no node",
                  "this is a defect of symprof, please report it");
    ++calls[call.node];
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].node = static_cast<NodeId>(i);
    nodes[i].calls.reserve(calls[i]);
  }
  return nodes;
}

void count_coverage(Coverage& coverage, Confidence confidence) {
  ++coverage.calls;
  switch (confidence) {
    case Confidence::exact:
      ++coverage.exact;
      break;
    case Confidence::modelled:
      ++coverage.modelled;
      break;
    case Confidence::free:
      ++coverage.free;
      break;
    case Confidence::unmodelled:
      ++coverage.unmodelled;
      break;
  }
}

/// Overloads of an operator share a name, listed once. `unmodelled` is by operator.
void name_unmodelled(Profile& profile, const std::vector<bool>& unmodelled) {
  std::vector<std::string>& names = profile.coverage.unmodelled_ops;
  for (std::size_t op = 0; op < unmodelled.size(); ++op)
    if (unmodelled[op]) names.push_back(profile.recording.ops[op]);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

void count_calls(Profile& profile, const OperatorTable* own) {
  const Recording& recording = profile.recording;
  const std::vector<const Rule*> rules = resolve(recording, own);
  std::vector<bool> unmodelled(recording.ops.size());
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    const Cost cost = cost_of(recording, call, rules[call.op]);
    NodeProfile& node = profile.nodes[call.node];
    node.calls.push_back({static_cast<CallId>(i), cost});
    add_call(node.figures, call.phase, cost);
    count_coverage(profile.coverage, cost.confidence);
    add_to(profile.totals.transfer_bytes, cost.transfer_bytes);
    if (cost.confidence == Confidence::unmodelled) unmodelled[call.op] = true;
  }
  name_unmodelled(profile, unmodelled);
}

/// Sums the nodes into the totals; a call that belongs to no node would be missing here.
void sum_nodes(Profile& profile) {
  Totals& totals = profile.totals;
  std::size_t calls = 0;
  for (const NodeProfile& node : profile.nodes) {
    const RowFigures& row = node.figures;
    calls += node.calls.size();
    add_to(totals.fwd_flops, row.fwd_product_flops);
    add_to(totals.bwd_flops, row.bwd_product_flops);
    add_to(totals.fwd_flops_all, row.fwd_other_flops);
    add_to(totals.bwd_flops_all, row.bwd_other_flops);
    add_to(totals.recompute_flops, row.recompute_product_flops);
    add_to(totals.recompute_flops_all, row.recompute_other_flops);
    add_to(totals.optimizer_flops, row.optimizer_flops);
  }
  add_to(totals.fwd_flops_all, totals.fwd_flops);
  add_to(totals.bwd_flops_all, totals.bwd_flops);
  add_to(totals.recompute_flops_all, totals.recompute_flops);
  for (const std::int64_t flops : {totals.fwd_flops, totals.bwd_flops})
    add_to(totals.hardware_flops, flops);
  totals.model_flops = totals.hardware_flops - totals.recompute_flops;
  if (calls != profile.recording.calls.size())
    throw Error("profile",
                "the rows have " + std::to_string(calls) + " of " +
                    std::to_string(profile.recording.calls.size()) + " calls",
                "this is a defect of symprof, please report it");
}

void set_memory(Profile& profile, StepMemory memory) {
  profile.memory = std::move(memory);
  Totals& totals = profile.totals;
  totals.peak_allocated_bytes = profile.memory.peak_allocated_bytes;
  totals.peak_reserved_bytes = profile.memory.peak_reserved_bytes;
  if (profile.memory.peak_call == none) return;
  const CallRecord& call = profile.recording.calls[profile.memory.peak_call];
  totals.peak_phase = call.phase;
  totals.peak_node = call.node;
}

Profile count(Recording recording, const OperatorTable* own) {
  Profile profile;
  profile.recording = std::move(recording);
  profile.warnings = profile.recording.warnings;
  profile.nodes = empty_nodes(profile.recording);
  count_calls(profile, own);
  count_memory(profile);
  find_tensor_peak(profile);
  sum_nodes(profile);
  return profile;
}

Profile evaluate_with(Recording recording, const DeviceSpec& device, const LoopOptions& loop,
                      const OperatorTable* own) {
  Profile profile = count(std::move(recording), own);
  set_memory(profile, simulate_step_memory(profile.recording, device, {.loop = loop, .own = own}));
  return profile;
}

/// Renumbers the calls and nodes of a whole program's `memory` as in one of its steps.
void name_as_in_step(StepMemory& memory, const ProgramStep& step) {
  const auto call_in_step = [&](CallId call) {
    return call >= step.first_call && call < step.end_call ? call - step.first_call : none;
  };
  memory.peak_call = call_in_step(memory.peak_call);
  for (NodeHolding& holding : memory.peak_by_node)
    holding.node = node_in_step(step, holding.node).value_or(none);
  for (TimelinePoint& point : memory.timeline) point.call = call_in_step(point.call);
  std::erase_if(memory.timeline, [](const TimelinePoint& point) { return point.call == none; });
}

/// The last step of each kind that has other optimizers than `step`.
std::vector<OtherStep> other_steps(const ProgramRecording& program, const ProgramStep& step,
                                   const StepMemoryOptions& options, const DeviceSpec& device) {
  std::vector<OtherStep> others;
  for (std::size_t i = program.finished; i-- > 0;) {
    const ProgramStep& other = program.steps[i];
    const bool is_known = other.optimizers == step.optimizers ||
                          std::ranges::any_of(others, [&](const OtherStep& known) {
                            return known.optimizers == other.optimizers;
                          });
    if (is_known) continue;
    Profile profile = count(step_of(program, other), options.own);
    StepMemoryOptions of_other = options;
    of_other.program = range_of(other);
    set_memory(profile, simulate_step_memory(program.recording, device, of_other));
    others.push_back({i + 1, other.optimizers, profile.totals});
  }
  return others;
}

ProgramFacts facts_of(const ProgramRecording& program, const ProgramStep& step) {
  ProgramFacts facts{
      .steps = program.finished, .passes = step.passes, .optimizers = step.optimizers};
  const auto is_this = [&](const ProgramStep& other) {
    return other.first_call == step.first_call && other.end_call == step.end_call;
  };
  std::size_t index = 0;
  while (index < program.steps.size() && !is_this(program.steps[index])) ++index;
  for (const ProgramSteps::Between& between : program.between) {
    if (is_this(between.range)) facts.is_between = true, index = between.before;
    if (between.before == index) facts.between_passes = between.passes;
  }
  facts.step = index < program.finished ? index + 1 : 0;
  return facts;
}

}  // namespace

Cost cost_of(const Recording& recording, const CallRecord& record, const Rule* rule) {
  if (is_captured(record.stream)) return {.confidence = Confidence::free};
  if (!rule) return {};
  try {
    Estimate estimate = rule->estimate(Call(recording, record));
    if (!estimate) return {};
    estimate->confidence = rule->confidence;
    return *estimate;
  } catch (const Error& error) {
    throw error.at("node " + recording.nodes[record.node].name + " (" + recording.ops[record.op] +
                   ")");
  }
}

Profile evaluate_costs(Recording recording) { return count(std::move(recording), nullptr); }

Profile evaluate(Recording recording, const DeviceSpec& device, const LoopOptions& loop) {
  return evaluate_with(std::move(recording), device, loop, nullptr);
}

ProgramRange range_of(const ProgramStep& step) {
  return {step.first_call, step.end_call,   step.first_event,
          step.end_event,  step.first_node, step.end_node};
}

ProgramProfile evaluate_program(const ProgramRecording& program, const ProgramStep& step,
                                const DeviceSpec& device, const LoopOptions& loop,
                                const OperatorTable* own) {
  ProgramProfile found{.profile = count(step_of(program, step), own)};
  found.memory = simulate_step_memory(program.recording, device,
                                      {.loop = loop, .program = range_of(step), .own = own});
  StepMemory memory = found.memory;
  name_as_in_step(memory, step);
  set_memory(found.profile, std::move(memory));
  found.profile.program = facts_of(program, step);
  found.profile.program->others = other_steps(program, step, {.loop = loop, .own = own}, device);
  return found;
}

Profile evaluate(Recording recording, const DeviceSpec& device, const OperatorTable& own,
                 const LoopOptions& loop) {
  return evaluate_with(std::move(recording), device, loop, &own);
}

}  // namespace symprof::profile
