// What symprof optimize did, as a table, as the lines of the tools that it stands beside, as JSON.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/optimize_savings.h"
#include "workbench/optimize/optimize.h"
#include "workbench/verify.h"

namespace symprof::cli {

struct OptimizeResult {
  std::string model, file;
  workbench::OptimizeReport report;
  const Savings* savings = nullptr;               ///< Null where nobody asked.
  const workbench::Verifier* verifier = nullptr;  ///< Likewise.
  std::vector<workbench::OutputDifference> differences;
  std::string broken_by;  ///< The first rule after which values differ too much.
};

void write_optimize_table(fmt::memory_buffer& out, const OptimizeResult& result);
/// "STAT apply_P +added -removed #it=looks maxmatch=most i=times - time=seconds", a line for each
/// rule that was applied, as the pattern optimizer of experimental-experiment prints them.
void write_optimize_stat(fmt::memory_buffer& out, const OptimizeResult& result);
void write_optimize_json(fmt::memory_buffer& out, const OptimizeResult& result);

}  // namespace symprof::cli
