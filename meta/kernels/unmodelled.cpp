#include "meta/kernels/unmodelled.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstdint>

#include "meta/fake/convert.h"

namespace symprof::kernels {
namespace unmodelled {
namespace {

/// `shapes` has the dtype, the rank and the sizes of each result.
std::vector<at::Tensor> make(c10::string_view, at::TensorList, at::IntArrayRef shapes, at::Device) {
  std::vector<at::Tensor> made;
  for (std::size_t at = 0; at + 1 < shapes.size();) {
    const auto dtype = static_cast<DType>(shapes[at]);
    const auto rank = static_cast<std::size_t>(shapes[at + 1]);
    made.push_back(at::empty(shapes.slice(at + 2, rank),
                             at::dtype(meta::scalar_type(dtype)).device(at::kMeta)));
    at += 2 + rank;
  }
  return made;
}

}  // namespace
}  // namespace unmodelled

std::vector<at::Tensor> call_unmodelled(const std::string& op,
                                        const std::vector<at::Tensor>& inputs,
                                        const std::vector<TensorSpec>& results,
                                        c10::Device device) {
  std::vector<std::int64_t> shapes;
  for (const TensorSpec& spec : results) {
    shapes.push_back(static_cast<std::int64_t>(spec.dtype));
    shapes.push_back(static_cast<std::int64_t>(spec.sizes.size()));
    shapes.insert(shapes.end(), spec.sizes.begin(), spec.sizes.end());
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  static const auto handle =
      c10::Dispatcher::singleton().findSchemaOrThrow(std::string(unmodelled_operator).c_str(), "");
  torch::jit::Stack stack{op, inputs, shapes, device};
  handle.callBoxed(&stack);
  return stack.at(0).toTensorVector();
}

}  // namespace symprof::kernels

TORCH_LIBRARY_FRAGMENT(symprof, library) {
  library.def("unmodelled(str op, Tensor[] inputs, int[] shapes, Device device) -> Tensor[]");
}

TORCH_LIBRARY_IMPL(symprof, Meta, library) {
  library.impl("unmodelled", &symprof::kernels::unmodelled::make);
}
