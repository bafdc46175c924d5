// The result of `symprof bisect` as text.
#pragma once

#include <fmt/format.h>

#include <string>

#include "session/onnx/compare.h"

namespace symprof::report {

/// `prefix`: the beginning of the names of the written parts.
void write_bisect(fmt::memory_buffer& out, const BisectAnswer& answer, const std::string& prefix);

}  // namespace symprof::report
