// The tables of settings, formats and operators with cost rules, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

void bind_tables(nanobind::module_& module);

}  // namespace symprof::python
