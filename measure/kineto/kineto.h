// Reads a trace of torch.profiler and ties what the device did to the operators that asked for it.
//
// Public header.
#pragma once

#include <string>

#include "measure/trace.h"

namespace symprof::measure {

/// Each activity goes to the call of CUDA with its correlation id, and to the innermost operator of
/// that call's thread around it. The "External id" of a kernel is not asked: PyTorch 1.12 to 2.3
/// wrote the correlation id there, which may be the number of another operator. Throws Error with
/// the place where the file is broken.
Trace read_kineto(const std::string& path);
/// The same for a text; `path` is for messages.
Trace parse_kineto(const std::string& text, const std::string& path);

}  // namespace symprof::measure
