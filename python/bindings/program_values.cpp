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

/// Sets `into` to a tensor of the known values; returns false if they are unknown. (torch's Python
/// library, which creates Python tensors, is loaded after this one.)
bool read_known_values(nb::handle tensor, nb::handle into) {
  const auto values = copy_of_known_values(THPVariable_Unpack(tensor.ptr()));
  if (values) THPVariable_Unpack(into.ptr()).set_data(*values);
  return values.has_value();
}

void give_values(nb::handle tensor, nb::handle values) {
  give_known_values(THPVariable_Unpack(tensor.ptr()), THPVariable_Unpack(values.ptr()));
}

}  // namespace

void bind_program_values(nb::module_& module) {
  nb::class_<UnrecordedBlock>(module, "Unrecorded")
      .def(nb::init<>())
      .def("__enter__", &UnrecordedBlock::enter)
      .def("__exit__", &UnrecordedBlock::exit,
           nb::sig("def __exit__(self, *args: object) -> None"));
  module.def("read_known_values", &read_known_values);
  module.def("give_values", &give_values);
  module.def("mark_upper_bound", &mark_upper_bound);
  module.def("fake_key_set", &fake_key_set);
}

}  // namespace symprof::python
