// What a step is, in one line and in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/step_options.h"
#include "report/json_writer.h"

namespace symprof::report {

/// "train, optimizer adamw:foreach, autocast bfloat16"
std::string step_text(const StepOptions& options);

/// What a command line says besides: of the file's sizes and dtypes, and of the loop.
struct RunOptions {
  std::vector<std::string> inputs;  ///< "x=float32[8,3,224,224]"
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::optional<DType> dtype;
  std::string alloc_conf;
  int micro_batches = 1;
};

/// The member "options".
void write_step_options(JsonWriter& json, const StepOptions& options, const RunOptions& run = {});

}  // namespace symprof::report
