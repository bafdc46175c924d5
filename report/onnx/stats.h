// The counts of a model as text, JSON and CSV.
#pragma once

#include <fmt/format.h>

#include <string>

#include "workbench/stats.h"

namespace symprof::report {

/// Text for people; with `other`, both and their difference.
void write_stats(fmt::memory_buffer& out, const workbench::ModelStats& stats,
                 const std::string& name, const workbench::ModelStats* other = nullptr,
                 const std::string& other_name = {});
void write_stats_json(fmt::memory_buffer& out, const workbench::ModelStats& stats,
                      const std::string& name, const workbench::ModelStats* other = nullptr,
                      const std::string& other_name = {});
/// section,name,count[,other]
void write_stats_csv(fmt::memory_buffer& out, const workbench::ModelStats& stats,
                     const workbench::ModelStats* other = nullptr);

}  // namespace symprof::report
