#include "plan/checkpoint/knee.h"
#include "report/plan/checkpoint.h"
#include "report/plan/checkpoint_file.h"
#include "report/plan/checkpoint_text.h"
#include "report/profile/step_options.h"
#include "report/write/json_writer.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

using plan::PlanAnswer;
using plan::SimulatedPlan;

void write_simulated(JsonWriter& json, const CheckpointAnswer& answer,
                     const SimulatedPlan& simulated) {
  json.member("peak_allocated_bytes", simulated.peaks.allocated_bytes);
  json.member("peak_reserved_bytes", simulated.peaks.reserved_bytes);
  json.member("offloaded_bytes", simulated.offloaded_bytes);
  write_up_front(json, simulated);
  json.member("recompute_time_us", simulated.cost_us);
  json.member("step_time_us", answer.plain_step_us + simulated.cost_us);
  json.member("recompute_flops", simulated.recompute_flops);
}

void write_one(JsonWriter& json, const CheckpointAnswer& answer, const PlanAnswer& one) {
  json.member("budget_bytes", one.budget_bytes + answer.context_bytes);
  json.member("available_bytes", one.budget_bytes);
  json.member("found", one.best.has_value());
  json.member("impossible", one.is_impossible);
  one.least_cost_us ? json.member("least_recompute_time_us", *one.least_cost_us)
                    : json.null_member("least_recompute_time_us");
  const std::optional<double> gap = gap_of(answer, one);
  gap ? json.member("gap_percent", *gap) : json.null_member("gap_percent");
  if (one.best) {
    write_simulated(json, answer, *one.best);
    write_checkpoint(json, one.best->plan);
  } else {
    json.null_member("plan");
  }
}

void write_expandable(JsonWriter& json, const CheckpointAnswer& answer,
                      const std::optional<SimulatedPlan>& offer) {
  if (!offer) {
    json.null_member("expandable_segments");
    return;
  }
  json.key("expandable_segments");
  json.begin_object();
  write_simulated(json, answer, *offer);
  write_checkpoint(json, offer->plan);
  json.end_object();
}

void write_simulated_object(JsonWriter& json, std::string_view name, const CheckpointAnswer& answer,
                            const SimulatedPlan& simulated) {
  json.key(name);
  json.begin_object();
  write_simulated(json, answer, simulated);
  json.end_object();
}

}  // namespace

void write_checkpoint_json(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           SettingSpeller spell) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2), json.member("schema", "symprof.checkpoint_plan/1");
  json.line(2), json.member("model", answer.model);
  json.line(2), json.member("device", answer.device.name);
  json.line(2), write_settings(json, answer.settings);
  json.line(2), json.member("context_bytes", answer.context_bytes);
  json.line(2), json.member("waits_for_host", answer.waits_for_host);
  json.line(2), json.member("unknown_calls", answer.unknown_calls);
  json.line(2), json.member("plans_played", static_cast<std::int64_t>(answer.plans_simulated));
  json.line(2);
  answer.least ? json.member("least_bytes", answer.least->bytes + answer.context_bytes)
               : json.null_member("least_bytes");
  json.line(2), json.member("block_types", static_cast<std::int64_t>(answer.block_types));
  json.line(2),
      write_texts(json, "regions", answer.regions, [](const std::string& text) { return text; });
  json.line(2), write_texts(json, "notes", notes_of(answer),
                            [&](const std::string& text) { return spelled(text, spell); });
  json.line(2), write_simulated_object(json, "without", answer, answer.plain);
  json.line(2), write_simulated_object(json, "all_again", answer, answer.all_again);
  if (answer.answers.front().best)
    json.line(2), write_checkpoint(json, answer.answers.front().best->plan);
  json.line(2), json.key("budgets");
  json.begin_array();
  for (std::size_t i = 0; i < answer.answers.size(); ++i) {
    json.line(4), json.begin_object();
    write_one(json, answer, answer.answers[i]);
    write_expandable(json, answer, offer_of(answer, i));
    json.end_object();
  }
  json.end_array();
  json.line(2), json.key("curve");
  json.begin_array();
  for (const PlanAnswer& one : answer.curve) {
    json.line(4), json.begin_object();
    write_one(json, answer, one);
    json.end_object();
  }
  json.end_array();
  const std::size_t knee = plan::knee_of(answer.curve);
  json.line(2), json.key("knee");
  knee < answer.curve.size() ? json.value(static_cast<std::int64_t>(knee)) : json.null();
  json.line(2), json.key("alternatives");
  json.begin_array();
  for (const plan::AlternativePlan& one : answer.alternatives) {
    json.line(4), json.begin_object();
    json.member("name", one.name);
    json.spelled_member("note", one.note);
    if (one.simulated) write_simulated(json, answer, *one.simulated);
    json.end_object();
  }
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
