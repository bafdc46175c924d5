// The plan as a Python file: constants from the plan, then code that is the same in every file.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "plan/parallel/tensor_split.h"
#include "report/plan/parallel_plan.h"
#include "report/plan/parallel_plan_code.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

/// A Python list of names, one to a line.
std::string list_text(const std::vector<std::string>& names) {
  if (names.empty()) return "[]";
  std::string text = "[\n";
  for (const std::string& name : names) text += fmt::format("    \"{}\",\n", name);
  return text + "]";
}

/// A Python dictionary: by module the number of its products, and the names of their weights.
std::string experts_text(const std::vector<ParallelAnswer::Experts>& experts) {
  std::string text = "{\n";
  for (const ParallelAnswer::Experts& one : experts) {
    std::string weights;
    for (const std::string& weight : one.weights) weights += "\"" + weight + "\", ";
    text += fmt::format("    \"{}\": ({}, ({})),\n", one.module, one.products, weights);
  }
  return text + "}";
}

std::vector<std::string> linears_of(const ParallelAnswer& answer, plan::NodeSplit style) {
  std::vector<std::string> names;
  for (const plan::SplitLinear& linear : answer.split.linears)
    if (linear.style == style) names.push_back(linear.module);
  return names;
}

void write_constants(fmt::memory_buffer& out, const ParallelAnswer& answer,
                     const plan::LayoutResult& best) {
  const plan::ParallelLayout& layout = best.layout;
  const auto at = std::back_inserter(out);
  fmt::format_to(at, "PIPELINE, COPIES, SHARDS, TENSOR = {}, {}, {}, {}\n", layout.pipeline,
                 layout.data / layout.shard, layout.shard, layout.tensor);
  fmt::format_to(at, "MICROBATCHES, EXPERT = {}, {}\n", layout.microbatches, layout.expert);
  fmt::format_to(at, "CHECKPOINTED = {}  # The first blocks, which backward recomputes.\n",
                 layout.checkpointed);
  fmt::format_to(at, "BLOCKS = {}\n", list_text(answer.blocks));
  if (layout.tensor > 1) {
    fmt::format_to(at, "SEQUENCE = {}\n", layout.sequence ? "True" : "False");
    fmt::format_to(at, "COLUMNS = {}\nROWS = {}\n",
                   list_text(linears_of(answer, plan::NodeSplit::column)),
                   list_text(linears_of(answer, plan::NodeSplit::row)));
  }
  if (layout.tensor > 1)
    fmt::format_to(
        at, "GATHERING = {}\nTOKEN_MODULES = {}\n",
        list_text(layout.sequence || layout.by_node ? answer.split.gathering_modules
                                                    : std::vector<std::string>()),
        list_text(layout.sequence ? answer.split.token_modules : std::vector<std::string>()));
  if (layout.expert > 1)
    fmt::format_to(at, "EXPERTS = {}  # Products of each module, and their weights.\n",
                   experts_text(answer.experts));
  if (layout.pipeline == 1) return;
  std::vector<std::string> begins;
  begins.reserve(best.stage_ends.size());
  for (std::size_t i = 0; i + 1 < best.stage_ends.size(); ++i)
    begins.push_back(answer.blocks[best.stage_ends[i]]);
  fmt::format_to(at, "SCHEDULE, STAGES_PER_RANK = \"{}\", {}\nSTAGE_BEGINS = {}\n",
                 plan::row_of(layout.schedule).name, layout.stages_per_rank, list_text(begins));
}

void check_can_write(const ParallelAnswer& answer) {
  if (!answer.plan.best)
    throw Error(answer.model, "there is no plan to write.",
                "No layout fits: take more devices, or a smaller " + setting("global_batch") + ".");
}

std::string usage_text(const plan::ParallelLayout& layout) {
  if (layout.pipeline > 1)
    return "    mesh = make_mesh()\n"
           "    stages = apply_plan(model, mesh, loss_function, example)\n"
           "    optimizer = torch.optim.AdamW(parameter_groups(stages))\n"
           "    loss = run_step(stages, (local_share(inputs, mesh),), local_share(targets, "
           "mesh))\n";
  return "    mesh = make_mesh()\n"
         "    model = apply_plan(model, mesh)\n"
         "    optimizer = torch.optim.AdamW(parameter_groups(model))\n"
         "    loss = run_step(model, loss_function, (local_share(inputs, mesh),), "
         "local_share(targets, mesh))\n";
}

}  // namespace

void write_parallel_python(fmt::memory_buffer& out, const ParallelAnswer& answer) {
  check_can_write(answer);
  const plan::LayoutResult& best = *answer.plan.best;
  const plan::Mesh& mesh = answer.problem.mesh;
  const auto at = std::back_inserter(out);
  fmt::format_to(
      at,
      "\"\"\"{} on {} devices: {}\n\nEstimated: {} a step, {} of communication exposed, "
      "{} on the fullest rank.\nIn a program that torchrun starts on {} with {} processes "
      "each:\n\n{}\"\"\"\n",
      answer.model, mesh.devices(), text_of(best.layout), format_time(best.step_us),
      format_time(best.exposed_us), format_bytes(static_cast<std::int64_t>(best.memory.peak_bytes)),
      mesh.nodes == 1 ? "1 node" : fmt::format("{} nodes", mesh.nodes), mesh.devices_per_node,
      usage_text(best.layout));
  out.append(plan_code::head);
  write_constants(out, answer, best);
  out.append(plan_code::mesh_code);
  if (best.layout.tensor > 1) out.append(plan_code::tensor_code);
  if (best.layout.tensor > 1 && best.layout.pipeline > 1) out.append(plan_code::traced_tensor_code);
  if (best.layout.expert > 1) out.append(plan_code::expert_code);
  out.append(plan_code::data_code);
  out.append(best.layout.pipeline > 1 ? plan_code::pipeline_step : plan_code::plain_step);
}

}  // namespace symprof::report
