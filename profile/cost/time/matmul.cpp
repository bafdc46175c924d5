// Matrix products: one cuBLAS kernel each, which also adds a 1-D bias (cublasLtMatmul's epilogue).

#include <algorithm>
#include <numeric>
#include <utility>

#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// Weights find a cold L2 cache, after all other layers have passed through it.
constexpr std::int64_t sets_of_weights = 6;

bool is_parameter(const Call& call, int position) {
  const CallRecord& record = call.record();
  for (std::size_t i = 0; i < record.inputs.size(); ++i)
    if (record.input_positions[i] == position && record.inputs[i].storage != none)
      return call.recording().storages[record.inputs[i].storage].kind == StorageKind::parameter;
  return false;
}

/// Alignment in bytes of the rows or columns of a matrix, whichever are contiguous.
std::int64_t alignment_of(const TensorSpec& matrix) {
  const std::size_t last = matrix.sizes.size() - 1;
  const std::int64_t step = std::max(matrix.strides[last], matrix.strides[last - 1]);
  return std::gcd(std::int64_t{16},
                  std::gcd(step, matrix.storage_offset) * element_bytes(matrix.dtype));
}

/// Marks an operand that is expanded over the batch as shared; a CPU's caches keep it.
void share_right(ProductWork& work, const TensorSpec& right, const DeviceSpec& device) {
  const bool is_shared = work.batch > 1 && right.sizes.size() == 3 && right.strides.size() == 3 &&
                         right.strides[0] == 0;
  if (!is_shared) return;
  if (device.is_cpu)
    work.m *= std::exchange(work.batch, 1);
  else
    work.shares_right = true;
}

ProductLayout layout_of(const TensorSpec& left, const TensorSpec& right) {
  const bool left_along = left.strides.back() == 1;
  const bool right_along = right.strides[right.strides.size() - 2] == 1;
  if (left_along != right_along) return ProductLayout::mixed;
  return left_along ? ProductLayout::along : ProductLayout::across;
}

/// cuBLAS's kernel in fp32 on Hopper: gemmSN for few rows, sgemm_largek for small products. Derived
/// from the calibration split of truth/h200/kernel_record: for linear layers of fewer than 5e6
/// elements it is right in 44 of 45 cases there, in all 59 of the other split and in all 12 of an
/// H100.
ProductKernel kernel_of(const ProductWork& work, TimeClass time_class, bool has_bias,
                        const DeviceSpec& device) {
  const bool is_of_class =
      time_class == TimeClass::product_fp32 || time_class == TimeClass::product_tf32;
  if (!is_of_class || device.is_cpu || device.compute_major != 9) return ProductKernel::usual;
  constexpr std::int64_t few = 16, many = 4096, most_results = 134'000, short_k = 48;
  const double numbers = static_cast<double>(work.m * work.n) * static_cast<double>(work.k);
  const bool is_linear = has_bias && work.batch == 1 && time_class == TimeClass::product_fp32;
  if (std::min(work.m, work.n) == 1 || (is_linear && work.m <= few)) return ProductKernel::few_rows;
  const bool is_little = work.m < many && work.m * work.n < most_results &&
                         numbers <= (work.k <= short_k ? 2.1e6 : 1.9e6);
  return is_linear && is_little ? ProductKernel::large_k : ProductKernel::usual;
}

/// Launches of sgemm_largek with its helpers: clear, scale, add the bias.
constexpr int launches_of_large_k = 4;

/// True with a 1-D bias.
bool has_bias(const Call& call, int left_at) {
  const TensorSpec* bias = left_at > 0 ? call.input_at(0) : nullptr;
  return bias != nullptr && bias->sizes.size() == 1;
}

/// [batch, m, k] · [batch, k, n], either without a batch.
LaunchEstimate product(const Call& call, const DeviceSpec& device, int left_at) {
  const TensorSpec *left = call.input_at(left_at), *right = call.input_at(left_at + 1);
  if (!left || !right || left->sizes.size() < 2 || right->sizes.size() < 2) return std::nullopt;
  const std::optional<TimeClass> time_class =
      product_class(left->dtype, device, call.record().tf32_products);
  if (!time_class) return std::nullopt;
  const std::size_t last = left->sizes.size() - 1;
  ProductWork work;
  for (std::size_t i = 0; i + 1 < last; ++i) work.batch *= left->sizes[i];
  work.m = left->sizes[last - 1], work.k = left->sizes[last], work.n = right->sizes.back();
  work.operand_bytes = element_bytes(left->dtype);
  const TensorSpec* out = call.output(0);
  work.result_bytes = out != nullptr ? element_bytes(out->dtype) : work.operand_bytes;
  work.alignment = std::gcd(alignment_of(*left), alignment_of(*right));
  if (out != nullptr && out->sizes.size() > 1)
    work.alignment = std::gcd(work.alignment, alignment_of(*out));
  work.layout = layout_of(*left, *right);
  work.kernel = kernel_of(work, *time_class, has_bias(call, left_at), device);
  if (is_parameter(call, left_at)) std::swap(work.m, work.n);
  if (is_parameter(call, left_at) || is_parameter(call, left_at + 1))
    work.weight_sets = sets_of_weights;
  if (work.batch * work.m * work.n * work.k == 0) return Launches();
  share_right(work, *right, device);
  const int launches = work.kernel == ProductKernel::large_k ? launches_of_large_k : 1;
  return Launches{{{*time_class, work, launches}}};
}

LaunchEstimate mm(const Call& call, const Cost&, const DeviceSpec& device) {
  return product(call, device, 0);
}

LaunchEstimate addmm(const Call& call, const Cost&, const DeviceSpec& device) {
  return product(call, device, 1);
}

/// self [M, K] · mat2 [G, K, N]: each group has a part of the rows; self [M, K] · mat2 [K, N]: each
/// group has a part of K (the gradients of the matrices).
LaunchEstimate grouped(const Call& call, const Cost&, const DeviceSpec& device) {
  const TensorSpec *left = call.input_at(0), *right = call.input_at(1), *out = call.output(0);
  if (!left || !right || !out || left->sizes.size() != 2) return std::nullopt;
  const std::optional<TimeClass> time_class = product_class(left->dtype, device);
  const bool is_of_rows = right->sizes.size() == 3;
  const std::int64_t groups = is_of_rows ? right->sizes[0] : out->sizes[0];
  if (!time_class || groups < 1 || (!is_of_rows && out->sizes.size() != 3)) return std::nullopt;
  const auto part = [&](std::int64_t size) { return (size + groups - 1) / groups; };
  const ProductWork work{groups,
                         is_of_rows ? part(left->sizes[0]) : left->sizes[0],
                         right->sizes.back(),
                         is_of_rows ? left->sizes[1] : part(left->sizes[1]),
                         element_bytes(left->dtype),
                         element_bytes(left->dtype),
                         sets_of_weights};
  return Launches{{{*time_class, work}}};
}

LaunchEstimate with_vector(const Call& call, const Cost& cost, const DeviceSpec&) {
  const TensorSpec* matrix = call.input_at(call.op() == "aten::addmv" ? 1 : 0);
  if (!matrix || matrix->sizes.empty()) return std::nullopt;
  const std::int64_t length = matrix->sizes.back();
  return by_rows(cost, TimeClass::reduction, length > 0 ? numbers(*matrix) / length : 0, length);
}

constexpr TimeRule matmul_time_rows[] = {
    {"aten::mm", mm},
    {"aten::bmm", mm},
    {"aten::_int_mm", mm},
    {"aten::_scaled_mm", mm},
    {"aten::addmm", addmm},
    {"aten::_addmm_activation", addmm},
    {"aten::baddbmm", addmm},
    {"aten::_grouped_mm", grouped},
    {"aten::mv", with_vector},
    {"aten::addmv", with_vector},
    {"aten::dot", with_vector},
    {"aten::vdot", with_vector},
    {"aten::addr", moves_bytes<TimeClass::elementwise>},
};

}  // namespace

TimeRules matmul_times() { return {nullptr, matmul_time_rows}; }

}  // namespace symprof::profile
