#include "meta/fake/shape_kernel.h"

#include <algorithm>
#include <string_view>

#include "meta/fake/fake_mode.h"

namespace symprof::meta {

bool has_shape_kernel(const c10::OperatorHandle& op) {
  using c10::DispatchKey;
  constexpr DispatchKey keys[] = {DispatchKey::Meta, DispatchKey::CompositeExplicitAutograd,
                                  DispatchKey::CompositeExplicitAutogradNonFunctional,
                                  DispatchKey::CompositeImplicitAutograd};
  return std::ranges::any_of(keys,
                             [&](DispatchKey key) { return op.hasKernelForDispatchKey(key); });
}

bool is_python_of_torch(const c10::OperatorHandle& op) {
  constexpr std::string_view namespaces[] = {"torch_attn::", "torch_nn::"};
  const std::string& name = op.schema().name();
  return std::ranges::any_of(namespaces, [&](auto prefix) { return name.starts_with(prefix); }) &&
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

bool lacks_shape_kernel(const c10::Error& error) {
  // The messages with that fallback, and without it (ATen/core/dispatch/OperatorEntry.cpp).
  constexpr std::string_view words[] = {"attempted to run this operator with Meta tensors",
                                        "from the 'Meta' backend"};
  const std::string_view message = error.msg();
  return std::ranges::any_of(
      words, [&](std::string_view word) { return message.find(word) != std::string_view::npos; });
}

void check_layout(const c10::OperatorHandle& op, const at::Tensor& tensor) {
  if (!is_in_program()) return;
  if (tensor.layout() != at::kStrided)
    throw Error(c10::toString(op.operator_name()),
                "cannot be simulated: sparse tensors are not, as data decide their sizes",
                "Use dense ones: nn.Embedding(sparse=False), to_dense().");
  if (tensor.is_quantized())
    throw Error(c10::toString(op.operator_name()),
                "cannot be simulated: quantized tensors (torch.qint8 and its kin) are not",
                "Hold the integers and their scales in tensors of their own, as torchao does.");
}

Error no_shape_kernel(const c10::OperatorHandle& op) {
  return {c10::toString(op.operator_name()),
          "cannot be simulated: it has no shape kernel, in C++ or in Python",
          "Replace it by other operators, or give it a fake kernel with "
          "torch.library.register_fake."};
}

}  // namespace symprof::meta
