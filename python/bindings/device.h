// The simulated device and its memory, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_device(nanobind::module_& module);

}  // namespace symprof::python
