#include "report/plan/parallel_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/profile/memory_text.h"
#include "report/profile/step_options.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

constexpr std::size_t most_lines = 16;

std::int64_t whole(double bytes) { return std::llround(bytes); }

TextCell layout_bytes(double bytes) {
  const Quantity quantity = scale_bytes(whole(bytes), Precision::decimals);
  return {quantity.number, quantity.unit};
}

TextCell layout_time(double us) {
  const Quantity quantity = scale_time(std::llround(us * 1000), Precision::decimals);
  return {quantity.number, quantity.unit};
}

std::string mesh_text(const ParallelAnswer& answer) {
  const plan::Mesh& mesh = answer.problem.mesh;
  const std::string devices = mesh.devices() == 1 ? "device" : "devices";
  if (mesh.nodes == 1)
    return fmt::format("{} {} ({})", mesh.devices(), devices, answer.device.description);
  return fmt::format("{} {} in {} nodes ({})", group_digits(mesh.devices()), devices, mesh.nodes,
                     answer.device.description);
}

std::string verdict_of(const ParallelAnswer& answer) {
  if (!answer.plan.best)
    return fmt::format("{}: no layout fits into {}, by these estimates.", answer.model,
                       mesh_text(answer));
  return fmt::format("{} on {}: {}", answer.model, mesh_text(answer),
                     text_of(answer.plan.best->layout));
}

std::string step_time_text(const plan::LayoutResult& best) {
  return fmt::format(
      "{}: {} of computation, {} of communication exposed ({} in all){}", format_time(best.step_us),
      format_time(best.compute_us), format_time(best.exposed_us),
      format_time(best.communication_us),
      best.layout.pipeline > 1 ? fmt::format(", bubble {:.1f} %", 100 * best.bubble) : "");
}

std::string memory_parts_text(const plan::LayoutMemory& memory) {
  return fmt::format(
      "{} on the fullest rank, estimated: parameters {}, gradients {}, optimizer {}, buffers of "
      "collectives {}, activations {}, temporaries {}",
      format_bytes(whole(memory.peak_bytes)), format_bytes(whole(memory.parameters)),
      format_bytes(whole(memory.gradients)), format_bytes(whole(memory.optimizer)),
      format_bytes(whole(memory.buffers)), format_bytes(whole(memory.activations)),
      format_bytes(whole(memory.temporaries)));
}

std::string throughput_text(const ParallelAnswer& answer, const plan::LayoutResult& best) {
  const auto batch = static_cast<double>(answer.problem.global_batch);
  const double ideal =
      answer.one_device_us * batch / answer.samples / answer.problem.mesh.devices();
  return fmt::format("{:.4g} samples/s, {} a step; {:.1f} % of what as many single devices make",
                     1e6 * batch / best.step_us, group_digits(answer.problem.global_batch),
                     100 * ideal / best.step_us);
}

void write_table(fmt::memory_buffer& out, const ParallelAnswer& answer, const Layout& layout) {
  TextTable table;
  table.columns = {{"Layout"},
                   {"Step", Align::number},
                   {"Exposed", Align::number},
                   {"Bubble", Align::number},
                   {"Sent", Align::number},
                   {"Peak", Align::number},
                   {"Why not"}};
  const auto& lines = answer.plan.alternatives;
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
    const plan::LayoutResult& result = lines[i].result;
    const bool has_stages = result.layout.pipeline > 1;
    table.rows.push_back(
        {{{text_of(result.layout)},
          layout_time(result.step_us),
          layout_time(result.exposed_us),
          has_stages ? TextCell{fmt::format("{:.1f}", 100 * result.bubble), "%"} : TextCell{""},
          layout_bytes(result.comm_bytes()),
          layout_bytes(result.memory.peak_bytes),
          {why_text(lines[i])}}});
  }
  out.push_back('\n');
  write(out, table, layout);
  if (lines.size() > most_lines)
    fmt::format_to(std::back_inserter(out), "[{} others]\n", lines.size() - most_lines);
}

std::string blocks_text(const ParallelAnswer& answer) {
  return fmt::format("{} blocks; {} kinds of units timed; {} layouts evaluated",
                     answer.blocks.size(), answer.block_types,
                     group_digits(static_cast<std::int64_t>(answer.plan.evaluated)));
}

/// The placements found inside the blocks for the plan's tensor-parallel group.
std::string placements_text(const plan::FoundPlacements& found) {
  const plan::BlockPlacements& block = found.block;
  std::string text = fmt::format("{} a block with the best placements of its {} nodes, exact",
                                 format_time(block.us), block.nodes.size());
  if (block.rule_us)
    text += fmt::format("; {} by columns and rows alone", format_time(*block.rule_us));
  return text;
}

std::string experts_text(const ParallelAnswer& answer, int ranks) {
  const ParallelAnswer::Experts& first = answer.experts.front();
  return fmt::format(
      "{} of {} on each rank, in {} modules; tokens are taken to be spread evenly over them",
      first.experts / ranks, first.experts, answer.experts.size());
}

std::string links_text(const ParallelAnswer& answer) {
  std::string text = answer.has_measured_links ? "measured collectives of one node"
                                               : "NCCL's formula alone, no measurement";
  if (answer.problem.mesh.nodes > 1) text += "; between nodes NCCL's formula and the data sheet";
  return text;
}

}  // namespace

std::string why_text(const plan::LayoutAlternative& line) {
  switch (line.why) {
    case plan::WhyNot::is_chosen:
      return "chosen";
    case plan::WhyNot::does_not_fit:
      return fmt::format("does not fit: {} too much{}", format_bytes(whole(line.needs)),
                         line.would_win ? ", else it would win" : "");
    case plan::WhyNot::waits_for_links:
      return fmt::format("wins with {:.0f} % of its communication hidden", 100 * line.needs);
    case plan::WhyNot::is_idle:
      return fmt::format("wins without {:.0f} % of its bubble", 100 * line.needs);
    case plan::WhyNot::computes_longer:
      return "takes longer without communication too";
  }
  return "";
}

void write_parallel_plan(fmt::memory_buffer& out, const ParallelAnswer& answer,
                         const Layout& layout) {
  const auto& best = answer.plan.best;
  fmt::format_to(
      std::back_inserter(out), "{}\n\n",
      emphasize(verdict_of(answer), best ? Emphasis::strong : Emphasis::alert, layout.color));
  const auto line = [&](std::string_view label, const std::string& text) {
    write_line(out, label, text, layout);
  };
  line("step", step_text(answer.settings.step));
  if (best) {
    line("time", step_time_text(*best));
    line("rate", throughput_text(answer, *best));
    line("memory", memory_parts_text(best->memory));
  }
  line("available", fmt::format("{} on each device; {} for CUDA's context",
                                format_bytes(answer.problem.available_bytes),
                                format_bytes(answer.context_bytes)));
  line("blocks", blocks_text(answer));
  for (const plan::FoundPlacements& found : answer.placements)
    if (best && found.share.tensor == best->layout.tensor &&
        found.share.sequence == best->layout.sequence)
      line("nodes", placements_text(found));
  if (best && best->layout.expert > 1) line("experts", experts_text(answer, best->layout.expert));
  line("links", links_text(answer));
  if (answer.skips_blocks && best && best->layout.pipeline > 1)
    line("note",
         "blocks read more than the block before them made, which torch.distributed.pipelining "
         "refuses where it skips stages");
  if (answer.unknown_calls > 0)
    line("note", fmt::format("{} calls have no time estimate, and count as 0 here",
                             group_digits(answer.unknown_calls)));
  write_table(out, answer, layout);
}

}  // namespace symprof::report
