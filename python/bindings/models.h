// Verbs that compute with the values of models, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace symprof::python {

/// Binds the questions, whose members have the names of the command's options, and the verbs.
void bind_models(nanobind::module_& module);

}  // namespace symprof::python
