// What C++'s tables hold, for Python: settings, formats, operators with costs.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_tables(nanobind::module_& module);

}  // namespace symprof::python
