// A comparison as text.
#pragma once

#include <fmt/format.h>

#include <span>

#include "workbench/compare/align.h"

namespace symprof::report {

/// One line for each pair, its cells cut or padded to `width` characters: to_str of onnx-array-api
/// 0.3.3. Where differences are known, " | a=… r=…" ends the line.
void write_compare_rows(std::span<const workbench::Row> a, std::span<const workbench::Row> b,
                        const workbench::Alignment& alignment, std::size_t width,
                        fmt::memory_buffer& out);

}  // namespace symprof::report
