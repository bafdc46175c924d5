#include "python/bindings/program_values.h"

#include <torch/csrc/autograd/python_variable.h>

#include <memory>

#include "shape/eager/program_values.h"
#include "shape/eager/unrecorded.h"
#include "shape/eager/while_compiling.h"

namespace nb = nanobind;

namespace symprof::python {
namespace {

/// `with Unrecorded():`, `with WhileCompiling():`.
template <typename Region>
class Block {
 public:
  void enter() { region_ = std::make_unique<Region>(); }
  void exit(const nb::args&) { region_.reset(); }

 private:
  std::unique_ptr<Region> region_;
};

template <typename Region>
void bind_block(nb::module_& module, const char* name) {
  nb::class_<Block<Region>>(module, name)
      .def(nb::init<>())
      .def("__enter__", &Block<Region>::enter)
      .def("__exit__", &Block<Region>::exit, nb::sig("def __exit__(self, *args: object) -> None"));
}

/// `into` becomes a tensor of the values; false where they are not known. (torch's Python library,
/// which makes Python tensors, is loaded after this one.)
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
  bind_block<Unrecorded>(module, "Unrecorded");
  bind_block<WhileCompiling>(module, "WhileCompiling");
  module.def("read_known_values", &read_known_values);
  module.def("give_values", &give_values);
  module.def("mark_upper_bound", &mark_upper_bound);
  module.def("fake_key_set", &fake_key_set);
}

}  // namespace symprof::python
