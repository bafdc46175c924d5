// What symprof bisect found, as text.
#pragma once

#include <fmt/format.h>

#include <string>

#include "session/onnx/compare.h"

namespace symprof::report {

/// `prefix`: what the files of the parts begin with.
void write_bisect(fmt::memory_buffer& out, const BisectAnswer& answer, const std::string& prefix);

}  // namespace symprof::report
