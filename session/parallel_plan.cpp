// The verb plan parallel: how to spread a step over a mesh.
#include "session/parallel_plan.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "plan/checkpoint/regions.h"
#include "plan/fit.h"
#include "profile/time/collectives/links.h"
#include "session/parallel_times.h"
#include "session/session.h"

namespace symprof {
namespace {

/// The path with its numbers left out: blocks that repeat have the same.
std::string pattern_of(std::string path) {
  std::erase_if(path, [](char letter) { return letter >= '0' && letter <= '9'; });
  return path;
}

/// The group of at least two regions with the most nodes.
std::vector<std::string> repeated_blocks(const Graph& graph,
                                         const std::vector<std::string>& patterns) {
  std::vector<std::string> regions = plan::regions_of(graph, patterns);
  if (!patterns.empty()) return regions;
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& region : regions) groups[pattern_of(region)].push_back(region);
  std::vector<std::string> best;
  for (auto& [pattern, members] : groups)
    if (members.size() > std::max<std::size_t>(best.size(), 1)) best = std::move(members);
  return best;
}

std::vector<ParallelAnswer::Experts> experts_of(const plan::ModelCosts& costs, const Graph& graph) {
  std::vector<ParallelAnswer::Experts> all;
  for (const trace::ExpertProducts& one : costs.experts()) {
    ParallelAnswer::Experts& found = all.emplace_back();
    found.module = trace::module_of(one, graph);
    found.products = one.products.size();
    found.experts = one.experts;
    for (const ValueId weight : one.weights) {
      const std::string& path = graph.value(weight).name;
      found.weights.push_back(path.substr(path.rfind('.') + 1));
    }
  }
  return all;
}

/// With times, and the links of the mesh.
Settings timed_on_one_device(const Settings& settings, const plan::Mesh& mesh) {
  Settings timed = settings;
  timed.mesh = mesh;
  timed.step.device = device_of(timed);
  timed.mesh.reset();
  if (!timed.time) timed.time = TimeOptions{};
  return timed;
}

}  // namespace

ParallelAnswer plan_parallel(Session& session, const Settings& settings,
                             const ParallelQuestion& question) {
  const Settings timed = timed_on_one_device(settings, question.mesh);
  const PreparedModel model = session.prepare(timed);
  if (model.settings.step.mode == Mode::inference)
    throw Error(SettingRef{"mode"}, "a plan is of a training step.",
                "Use " + setting("mode", "train") + ".");
  if (question.global_batch && *question.global_batch < 1)
    throw Error(SettingRef{"global_batch"}, "a step of no samples", "Give 1 or more.");
  ParallelAnswer answer;
  answer.settings = model.settings, answer.model = model.graph.path;
  answer.device = model.settings.step.device;
  answer.blocks = repeated_blocks(model.graph, question.blocks);
  if (answer.blocks.empty())
    throw Error(model.graph.path, "has no modules that repeat, which devices could share.",
                "Name them with " + setting("blocks") + ".");
  const profile::CollectiveModel collectives = profile::collective_model_of(answer.device);
  const Profile profile = session.profile(model);
  profile::TimeModel times = time_model_of(answer.device, *timed.time);
  const trace::ValueSpecs specs = trace::specs_of(model.graph, profile.recording);
  plan::ModelCosts costs(profile, answer.device, times, answer.blocks, model.graph, specs);
  const plan::Budget budget = budget_of(answer.device, settings.loop);
  answer.context_bytes = budget.context_bytes;
  answer.samples = costs.samples();
  answer.problem = {.mesh = question.mesh,
                    .global_batch = question.global_batch.value_or(
                        static_cast<std::int64_t>(answer.samples) * question.mesh.devices()),
                    .available_bytes = budget.available_bytes()};
  answer.block_types = costs.types();
  answer.skips_blocks = costs.skips_blocks();
  answer.one_device_us = profile.time->step_us;
  answer.one_device_bytes = profile.totals.peak_reserved_bytes;
  answer.unknown_calls = profile.time->unknown_calls;
  answer.has_measured_links = !collectives.links().measured.empty();
  answer.plan = plan::plan_parallel(costs, collectives, answer.problem, question.wanted);
  answer.split = costs.split();
  if (answer.plan.best) {
    const plan::ParallelLayout& best = answer.plan.best->layout;
    answer.split = costs.split({1, best.tensor, best.sequence, best.expert, best.by_node}).tensors;
  }
  answer.placements = costs.found_placements();
  answer.experts = experts_of(costs, model.graph);
  for (const NodeRecord& node : profile.recording.nodes) answer.node_names.push_back(node.name);
  return answer;
}

}  // namespace symprof
