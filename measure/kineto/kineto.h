// Reads a trace of torch.profiler and links device activities to the operators that launched them.
#pragma once

#include <string>

#include "measure/trace.h"

namespace symprof::measure {

/// Each activity is linked to the CUDA call with its correlation id, and to the innermost operator
/// around that call on its thread. A kernel's "External id" is not used: PyTorch 1.12 to 2.3 wrote
/// the correlation id there, which may be the id of another operator. Throws Error with the place
/// where the file is broken.
Trace read_kineto(const std::string& path, Arguments arguments = Arguments::left_out);
/// The same for a text; `path` is for messages.
Trace parse_kineto(const std::string& text, const std::string& path,
                   Arguments arguments = Arguments::left_out);

}  // namespace symprof::measure
