// The options of a step, in one line and in JSON.
#pragma once

#include <string>

#include "record/step_options.h"
#include "report/write/json_writer.h"
#include "session/settings.h"

namespace symprof::report {

/// "train, optimizer adamw:foreach, autocast bfloat16"
std::string step_text(const StepOptions& options);

/// The member "options".
void write_settings(JsonWriter& json, const Settings& settings);

}  // namespace symprof::report
