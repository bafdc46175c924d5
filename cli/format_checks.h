// The refusal of options of `symprof profile` that its format does not support.
#pragma once

#include <string>

#include "report/write/formats.h"

namespace symprof::cli {

/// Each throws Error if `format` does not support the option.
void check_has_formulas(const report::FormatRow& format);
void check_has_peak_table(const report::FormatRow& format);
void check_has_measured_memory(const report::FormatRow& format);
void check_has_measurement(const report::FormatRow& format);
void check_has_file(const report::FormatRow& format, const std::string& file);

}  // namespace symprof::cli
