// A field of a CSV file.
#pragma once

#include <string>

namespace symprof::report {

/// `text` as a field (RFC 4180): in quotes where it holds a comma, a quote or a line end.
std::string csv_field(const std::string& text);

}  // namespace symprof::report
