// The Python package's inspection of tensor subclasses, for tensors saved by autograd.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_inner_tensors(nanobind::module_& module);

}  // namespace symprof::python
