#include "meta/kernels/pointwise.h"

#include <ATen/TensorIterator.h>
#include <ATen/native/Resize.h>

namespace symprof::kernels {

at::Tensor pointwise(at::TensorList inputs, std::optional<at::ScalarType> dtype) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).add_owned_output(at::Tensor());
  for (const at::Tensor& input : inputs) config.add_owned_const_input(input);
  if (dtype.has_value()) {
    config.declare_static_dtype(*dtype);
  } else {
    config.promote_inputs_to_common_dtype(true);
  }
  return config.build().output();
}

at::Tensor& pointwise_into(at::TensorList inputs, at::Tensor& out) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).add_output(out);
  for (const at::Tensor& input : inputs) config.add_owned_const_input(input);
  config.build();
  return out;
}

at::Tensor& resize_into(at::Tensor& out, at::IntArrayRef sizes) {
  at::native::resize_output(out, sizes);
  return out;
}

}  // namespace symprof::kernels
