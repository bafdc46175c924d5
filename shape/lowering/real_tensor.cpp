#include "shape/lowering/real_tensor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/packed_bits.h"
#include "meta/fake/convert.h"

namespace symprof::lowering {

at::Tensor real_tensor(const ConstantTensor& constant) {
  const TensorSpec& spec = constant.spec;
  at::Tensor tensor =
      at::empty(spec.sizes, at::TensorOptions(meta::scalar_type(spec.dtype)).device(at::kCPU));
  if (constant.data.size() != static_cast<std::size_t>(spec.bytes()))
    throw Error("constant", fmt::format("{} holds {} bytes of data, not {}", to_string(spec),
                                        constant.data.size(), spec.bytes()));
  const bool is_packed = element_bits(spec.dtype) < 8;
  const std::vector<std::byte> data =
      is_packed ? unpack_bits(constant.data, spec.dtype, spec.numel()) : std::vector<std::byte>();
  const std::vector<std::byte>& bytes = is_packed ? data : constant.data;
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace symprof::lowering
