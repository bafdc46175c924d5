// Operators that the package transformers defines for grouped expert products and writes into a
// .pt2 if it cannot use aten::_grouped_mm: an export in another dtype than bf16
// (transformers/integrations/moe.py: _can_use_grouped_mm, _grouped_mm_fallback).
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>
#include <vector>

#include "meta/kernels/allocation.h"
#include "meta/kernels/package_operators.h"

namespace symprof::kernels {
namespace {

using at::Tensor;

/// Multiplies rows of `input` [S, K], sorted by expert, by their expert's matrix in `weight` [E, K,
/// N].
Tensor product(const Tensor& input, const Tensor& weight, const Tensor& ends) {
  TORCH_CHECK(input.dim() == 2 && weight.dim() == 3 && ends.dim() == 1 &&
                  input.size(1) == weight.size(1) && ends.size(0) == weight.size(0),
              "grouped_mm_fallback: found sizes ", input.sizes(), ", ", weight.sizes(), " and ",
              ends.sizes(), ", wanted [rows, k], [experts, k, n] and [experts]");
  return fresh({input.size(0), weight.size(2)}, input);
}

std::tuple<Tensor, Tensor> product_backward(const Tensor& input, const Tensor& weight,
                                            const Tensor&, const Tensor&) {
  return {at::empty_like(input), at::empty_like(weight)};
}

template <typename Kernel>
auto typed_operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Kernel>();
}

/// Computes both gradients, even if only one is needed; the ends are kept outside of the saved
/// tensors.
struct Product : torch::autograd::Function<Product> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& input,
                        const Tensor& weight, const Tensor& ends) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->save_for_backward({input, weight});
    context->saved_data["offs"] = ends;
    return typed_operator<decltype(product)>("transformers::grouped_mm_fallback")
        .call(input, weight, ends);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    auto [input, weight] =
        typed_operator<decltype(product_backward)>("transformers::grouped_mm_fallback_backward")
            .call(saved[0], saved[1], context->saved_data["offs"].toTensor(), gradients[0]);
    return {input, weight, Tensor()};
  }
};

Tensor product_with_autograd(const Tensor& input, const Tensor& weight, const Tensor& ends) {
  return Product::apply(input, weight, ends);
}

}  // namespace

std::vector<torch::Library> define_transformers_experts() {
  std::vector<torch::Library> libraries;
  libraries.push_back(library_of("transformers", torch::Library::FRAGMENT));
  libraries.back().def("grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor");
  libraries.back().def(
      "grouped_mm_fallback_backward(Tensor input, Tensor weight, Tensor offs, Tensor grad_output)"
      " -> (Tensor, Tensor)");
  libraries.push_back(library_of("transformers", torch::Library::IMPL, c10::DispatchKey::Meta));
  libraries.back().impl("grouped_mm_fallback", &product);
  libraries.back().impl("grouped_mm_fallback_backward", &product_backward);
  libraries.push_back(library_of("transformers", torch::Library::IMPL, c10::DispatchKey::Autograd));
  libraries.back().impl("grouped_mm_fallback", &product_with_autograd);
  return libraries;
}

}  // namespace symprof::kernels
