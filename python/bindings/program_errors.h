// Errors of calls of a program as the package's exception.
#pragma once

namespace symprof::python {

/// From now on a call that is refused in a simulation raises symprof.Error, which names the
/// program's line. PyTorch would make a RuntimeError of it.
void raise_errors_of_programs();

}  // namespace symprof::python
