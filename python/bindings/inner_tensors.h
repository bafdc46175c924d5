// What the package sees inside of tensor subclasses, for what autograd saves.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_inner_tensors(nanobind::module_& module);

}  // namespace symprof::python
