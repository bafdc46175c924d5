// What Python asks of tensors without storage, and says of them.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_program_values(nanobind::module_& module);

}  // namespace symprof::python
