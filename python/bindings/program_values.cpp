#include "python/bindings/program_values.h"

#include <torch/csrc/autograd/python_variable.h>

#include <memory>

#include "shape/eager/program_values.h"
#include "shape/eager/unrecorded.h"

namespace nb = nanobind;

namespace symprof::python {
namespace {

/// `with Unrecorded():`.
class UnrecordedBlock {
 public:
  void enter() { unrecorded_ = std::make_unique<Unrecorded>(); }
  void exit(const nb::args&) { unrecorded_.reset(); }

 private:
  std::unique_ptr<Unrecorded> unrecorded_;
};

nb::object known_values(nb::handle tensor) {
  const auto values = copy_of_known_values(THPVariable_Unpack(tensor.ptr()));
  if (!values) return nb::none();
  return nb::steal(THPVariable_Wrap(*values));
}

void give_values(nb::handle tensor, nb::handle values) {
  give_known_values(THPVariable_Unpack(tensor.ptr()), THPVariable_Unpack(values.ptr()));
}

}  // namespace

void bind_program_values(nb::module_& module) {
  nb::class_<UnrecordedBlock>(module, "Unrecorded")
      .def(nb::init<>())
      .def("__enter__", &UnrecordedBlock::enter)
      .def("__exit__", &UnrecordedBlock::exit);
  module.def("known_values", &known_values);
  module.def("give_values", &give_values);
  module.def("mark_upper_bound", &mark_upper_bound);
  module.def("fake_key_set", &fake_key_set);
}

}  // namespace symprof::python
