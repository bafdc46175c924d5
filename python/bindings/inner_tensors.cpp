#include "python/bindings/inner_tensors.h"

#include <c10/core/impl/PyObjectSlot.h>
#include <torch/csrc/autograd/python_variable.h>

#include "shape/eager/program_values.h"

namespace nb = nanobind;

namespace symprof::python {
namespace {

// Never destroyed: the interpreter ends before the process does.
nb::object& parts_of() {
  static auto* function = new nb::object;
  return *function;
}

template <class Slot>
PyObject* object_in(const Slot& slot) {
  if constexpr (requires { slot.load_pyobj(); })
    return slot.load_pyobj();
  else
    return slot._unchecked_untagged_pyobj();  // Before LibTorch 2.10.
}

std::vector<at::Tensor> inside(const at::Tensor& wrapper) {
  const nb::gil_scoped_acquire lock;
  PyObject* object = object_in(*wrapper.unsafeGetTensorImpl()->pyobj_slot());
  if (object == nullptr) return {};
  std::vector<at::Tensor> found;
  for (const nb::handle part : parts_of()(nb::handle(object)))
    found.push_back(THPVariable_Unpack(part.ptr()));
  return found;
}

void look_inside_by(nb::object function) {
  parts_of() = std::move(function);
  symprof::look_inside_wrappers_by(&inside);
}

}  // namespace

void bind_inner_tensors(nb::module_& module) {
  module.def("look_inside_wrappers_by", &look_inside_by, nb::arg("parts_of"),
             "Of each tensor subclass without storage, the tensors that `parts_of(tensor)` gives "
             "count as what is saved for backward.");
}

}  // namespace symprof::python
