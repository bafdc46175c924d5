// What a step is, in one line and in JSON.
#pragma once

#include <string>

#include "report/json_writer.h"
#include "shape/step.h"

namespace symprof::report {

/// "train, optimizer adamw:foreach, autocast bfloat16"
std::string step_text(const StepOptions& options);

/// The member "options".
void write_step_options(JsonWriter& json, const StepOptions& options);

}  // namespace symprof::report
