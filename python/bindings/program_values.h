// Python bindings to read and set values of tensors without storage.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_program_values(nanobind::module_& module);

}  // namespace symprof::python
