#include "python/bindings/program_errors.h"

#include <nanobind/nanobind.h>
#include <torch/csrc/Exceptions.h>

#include <string>

#include "base/error.h"
#include "python/bindings/frames.h"
#include "python/bindings/profile_handle.h"
#include "shape/eager/program.h"

namespace symprof::python {
namespace {

/// "aten::foo: cannot be simulated (train.py:12).", with the advice on a separate line.
std::string text_of(const Error& error, const std::string& place) {
  std::string text = error.summary(spell_as_argument);
  while (text.ends_with('.')) text.pop_back();
  if (!place.empty()) text += " (" + place + ")";
  const std::string advice = error.advice(spell_as_argument);
  return text + "." + (advice.empty() ? "" : "\n  " + advice);
}

/// PyTorch's bindings propagate a python_error unchanged, also across autograd threads.
void raise(const Error& error) {
  const std::string text = text_of(error, place_of_program());
  const nanobind::gil_scoped_acquire lock;
  const nanobind::object type = nanobind::module_::import_("symprof._error").attr("Error");
  PyErr_SetString(type.ptr(), text.c_str());
  python_error raised;
  raised.persist();
  throw raised;
}

}  // namespace

void raise_errors_of_programs() { EagerProgram::raise_errors_by(&raise); }

}  // namespace symprof::python
