// A checkpoint plan in JSON, in the form of the setting `checkpoint`, and its memory reserved up
// front.
#pragma once

#include <string_view>

#include "plan/checkpoint/planner.h"
#include "record/checkpoint_plan.h"
#include "report/write/json_writer.h"

namespace symprof::report {

/// A member with an array of texts.
void write_texts(JsonWriter& json, std::string_view name, const auto& texts, auto text_of) {
  json.key(name);
  json.begin_array();
  for (const auto& text : texts) json.value(text_of(text));
  json.end_array();
}

/// The memory reserved up front, in total and by segment, and whether the loop starts warm.
inline void write_up_front(JsonWriter& json, const plan::SimulatedPlan& simulated) {
  json.member("up_front_bytes", simulated.up_front_sum_bytes());
  json.key("up_front_segments");
  json.begin_array();
  for (const std::int64_t bytes : simulated.up_front_bytes) json.value(bytes);
  json.end_array();
  json.member("warm_start", simulated.warm_start);
  json.key("spacers");  // A key of schema 1, always empty.
  json.begin_array();
  json.end_array();
}

/// The member "plan".
inline void write_checkpoint(JsonWriter& json, const CheckpointPlan& plan) {
  const auto same = [](const std::string& text) { return text; };
  json.key("plan");
  json.begin_object();
  json.key("regions");
  json.begin_array();
  for (const CheckpointRegion& region : plan.regions) {
    json.begin_object();
    write_texts(json, "modules", region.modules, same);
    write_texts(json, "keep", region.kept, [](const KeptCall& call) { return to_string(call); });
    json.end_object();
  }
  json.end_array();
  write_texts(json, "offload", plan.offloaded, same);
  json.end_object();
}

}  // namespace symprof::report
