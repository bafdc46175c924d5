// Errors of a program's calls, as the package's exception.
#pragma once

namespace symprof::python {

/// From now on a call refused in a simulation raises symprof.Error, which names the program's line.
/// PyTorch would raise a RuntimeError.
void raise_errors_of_programs();

}  // namespace symprof::python
