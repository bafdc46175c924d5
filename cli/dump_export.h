// Writes tensors of a dump as files.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "report/measure/dump_export.h"

namespace symprof::cli {

/// Writes the leaves in the form that `as` names ("npz", "safetensors": one file; "npy", "raw": a
/// file for each in a new folder), complete or not at all. Throws Error.
void export_leaves(const std::vector<report::NamedLeaf>& leaves, const std::string& as,
                   const OutputOptions& output);

}  // namespace symprof::cli
