// What symprof compare found, as a table and as JSON.
#pragma once

#include <fmt/format.h>

#include <string>

#include "report/layout.h"
#include "workbench/compare/compare.h"

namespace symprof::cli {

struct CompareResult {
  std::string a, b;                  ///< The files.
  std::string backend_a, backend_b;  ///< What ran them; empty where nothing ran.
  std::string inputs;                ///< "x float32[2, 3]"; empty where nothing ran.
  bool has_run = false;
  workbench::Comparison comparison;
};

/// `all`: also lines that are alike, which are folded otherwise.
void write_compare_table(fmt::memory_buffer& out, const CompareResult& result, bool all,
                         const report::Layout& layout);
void write_compare_json(fmt::memory_buffer& out, const CompareResult& result);

}  // namespace symprof::cli
