// The result of symprof compare, as a table and as JSON.
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/onnx/compare.h"

namespace symprof::report {

/// `all`: also lines that are alike, which are folded otherwise.
void write_compare_table(fmt::memory_buffer& out, const CompareAnswer& result, bool all,
                         const Layout& layout);
void write_compare_json(fmt::memory_buffer& out, const CompareAnswer& result);

}  // namespace symprof::report
