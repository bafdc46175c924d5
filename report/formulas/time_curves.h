// Curves of a step's time over its sizes, as text and as JSON.
#pragma once

#include <fmt/format.h>

#include <string>

#include "report/formulas/formula_report.h"
#include "report/write/json_writer.h"
#include "report/write/layout.h"

namespace symprof::report {

/// "1.31 ms", "209.8 µs + 68.13 µs·batch": a piece as a formula of the dimension.
std::string piece_text(const plan::CurvePiece& piece, const std::string& dimension);

/// A table for each dimension, empty lines between them. Nothing without curves.
void write_time_curves(fmt::memory_buffer& out, const FormulaReport& report, const Layout& layout);

/// The member "times"; null without curves.
void write_time_curves(JsonWriter& json, const FormulaReport& report);

}  // namespace symprof::report
