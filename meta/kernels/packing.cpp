// Packed sequences (native/PackedSequence.cpp).
#include <ATen/ATen.h>
#include <ATen/ops/_pack_padded_sequence_native.h>
#include <torch/library.h>

#include <tuple>

#include "base/error.h"
#include "base/values_setting.h"
#include "meta/fake/known_values.h"
#include "meta/kernels/families.h"
#include "meta/kernels/without_gradients.h"

namespace symprof::kernels {
namespace {

using at::Tensor;

// Copies the rows of each step, then concatenates them; the number of steps is read from the
// lengths.
std::tuple<Tensor, Tensor> pack_padded_sequence(const Tensor& input, const Tensor& lengths,
                                                bool batch_first) {
  const auto values = meta::known_values(lengths);
  if (!values)
    throw Error("",
                "packing reads the lengths of its sequences, and a tensor without storage has none",
                "Give them with " + values_setting() + ".");
  const WithoutGradients no_gradients;
  return at::native::_pack_padded_sequence(input, *values, batch_first);
}

}  // namespace

void register_packing(torch::Library& library) {
  library.impl("_pack_padded_sequence", &pack_padded_sequence);
}

}  // namespace symprof::kernels
