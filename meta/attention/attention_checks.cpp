#include "meta/attention/attention_checks.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

// Each check returns nothing if it passes, else the found and the wanted value.
namespace symprof::meta {
namespace {

using at::SDPBackend;
using at::Tensor;
using Complaint = std::optional<std::string>;

struct Question {
  const AttentionCall& call;
  const DeviceSpec& device;

  int sm() const { return device.compute_major * 10 + device.compute_minor; }
  int64_t queries() const { return call.query.size(2); }
  int64_t keys() const { return call.key.size(2); }
  int64_t width() const { return call.query.size(3); }
  int64_t value_width() const { return call.value.size(3); }
  bool with_mask() const { return call.mask.has_value() && call.mask->defined(); }
  bool with_grad() const {
    return at::GradMode::is_enabled() &&
           (call.query.requires_grad() || call.key.requires_grad() || call.value.requires_grad());
  }
};

Complaint unless(bool holds, std::string complaint) {
  return holds ? std::nullopt : Complaint(std::move(complaint));
}

std::string sizes_of(const Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

std::string tensor_sizes(const Question& q) {
  return fmt::format("query {}, key {}, value {}", sizes_of(q.call.query), sizes_of(q.call.key),
                     sizes_of(q.call.value));
}

Complaint four_dimensions(const Question& q) {
  const auto& call = q.call;
  return unless(call.query.dim() == 4 && call.key.dim() == 4 && call.value.dim() == 4,
                fmt::format("found {}, wanted 4 dimensions each", tensor_sizes(q)));
}

Complaint architecture(const Question& q, int lowest) {
  return unless(
      q.sm() >= lowest && q.sm() <= 121,
      fmt::format("found compute capability {}.{}, wanted {}.{} to 12.1", q.device.compute_major,
                  q.device.compute_minor, lowest / 10, lowest % 10));
}

Complaint one_dtype(const Question& q, const std::vector<at::ScalarType>& allowed) {
  const auto dtype = q.call.query.scalar_type();
  const bool same = dtype == q.call.key.scalar_type() && dtype == q.call.value.scalar_type();
  const bool known = std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
  std::vector<std::string> names;
  for (const auto type : allowed) names.emplace_back(c10::toString(type));
  return unless(same && known,
                fmt::format("found query {}, key {}, value {}, wanted one of {} for all three",
                            c10::toString(dtype), c10::toString(q.call.key.scalar_type()),
                            c10::toString(q.call.value.scalar_type()), fmt::join(names, ", ")));
}

Complaint nonzero_lengths(const Question& q) {
  return unless(q.queries() != 0 && q.keys() != 0,
                fmt::format("found {} queries and {} keys, wanted at least one of each",
                            q.queries(), q.keys()));
}

enum class Singleton { counts, ignored };

Complaint last_stride_one(const Question& q, Singleton singleton) {
  const auto& call = q.call;
  bool dense = call.query.stride(-1) == 1 && call.key.stride(-1) == 1 && call.value.stride(-1) == 1;
  if (singleton == Singleton::ignored) dense = dense || q.width() == 1;
  const bool mask_dense = !q.with_mask() || call.mask->stride(-1) == 1;
  return unless(
      dense && mask_dense,
      fmt::format("found last strides {} (query), {} (key), {} (value){}, wanted 1",
                  call.query.stride(-1), call.key.stride(-1), call.value.stride(-1),
                  q.with_mask() ? fmt::format(", {} (mask)", call.mask->stride(-1)) : ""));
}

enum class Grouping { unsupported, key_equals_value, any };

Complaint batch_and_heads(const Question& q, Grouping grouping) {
  const auto &query = q.call.query, &key = q.call.key, &value = q.call.value;
  if (query.size(0) != key.size(0) || query.size(0) != value.size(0)) {
    return fmt::format("found {}, wanted equal batch sizes", tensor_sizes(q));
  }
  if (!q.call.enable_gqa || grouping == Grouping::unsupported) {
    return unless(query.size(1) == key.size(1) && query.size(1) == value.size(1),
                  fmt::format("found {}, wanted equal numbers of heads", tensor_sizes(q)));
  }
  const auto divides = [&](int64_t heads) { return heads > 0 && query.size(1) % heads == 0; };
  const bool equal = grouping == Grouping::any || key.size(1) == value.size(1);
  return unless(
      equal && divides(key.size(1)) && divides(value.size(1)),
      fmt::format("found {}, wanted key and value heads that divide the query's", tensor_sizes(q)));
}

// ---- cuDNN

Complaint cudnn_mask(const Question& q) {
  if (!q.with_mask()) return std::nullopt;
  const Tensor& mask = *q.call.mask;
  if (mask.requires_grad())
    return "found a mask that requires a gradient, wanted one that does not";
  const auto fits = [&](int64_t dim, int64_t size) {
    return mask.size(dim) == size || mask.size(dim) == 1;
  };
  const bool right =
      (mask.dim() == 2 || mask.dim() == 4) && fits(-2, q.queries()) && fits(-1, q.keys()) &&
      (mask.dim() == 2 || (fits(0, q.call.query.size(0)) && fits(1, q.call.query.size(1))));
  return unless(right, fmt::format("found a mask of size {}, wanted [{}, {}] or [{}, {}, {}, {}] "
                                   "with dimensions equal or 1",
                                   sizes_of(mask), q.queries(), q.keys(), q.call.query.size(0),
                                   q.call.query.size(1), q.queries(), q.keys()));
}

Complaint cudnn_widths(const Question& q) {
  const int64_t d = q.width(), dv = q.value_width();
  const bool hopper = q.device.compute_major == 9 && q.device.compute_minor == 0;
  const int64_t limit = hopper && q.device.cudnn_version >= 91000 ? 256 : 128;
  const bool latent =
      q.device.compute_major == 10 && q.device.cudnn_version >= 91100 && d == 192 && dv == 128;
  return unless(
      d % 8 == 0 && dv % 8 == 0 && ((d <= limit && dv <= limit) || latent),
      fmt::format("found head widths {} and {}, wanted multiples of 8 up to {}", d, dv, limit));
}

Complaint cudnn_lengths(const Question& q) {
  if (q.keys() == 1) return "found one key, wanted more";
  return unless(!(q.queries() == 1 && q.call.dropout_p > 0),
                "found one query with dropout, wanted more queries or no dropout");
}

Complaint cudnn_dropout(const Question& q) {
  const double sixteenths = q.call.dropout_p * 16;
  return unless(sixteenths == std::floor(sixteenths),
                fmt::format("found dropout {}, wanted a multiple of 1/16", q.call.dropout_p));
}

Complaint cudnn_batch(const Question& q) {
  return unless(q.call.query.size(0) <= 65535 && q.call.query.size(1) <= 65535,
                fmt::format("found {}, wanted at most 65535 samples and heads", tensor_sizes(q)));
}

Complaint deterministic(const Question&) {
  const auto& context = at::globalContext();
  return unless(!context.deterministicAlgorithms() || context.deterministicAlgorithmsWarnOnly(),
                "found deterministic algorithms on, wanted them off");
}

Complaint enabled(bool flag) {
  return unless(flag, "found this backend switched off, wanted it on");
}

Complaint against_cudnn(const Question& q) {
  for (const auto& complaint :
       {enabled(at::globalContext().userEnabledCuDNNSDP()), four_dimensions(q)}) {
    if (complaint) return complaint;
  }
  for (const auto& complaint :
       {architecture(q, 80), deterministic(q), one_dtype(q, {at::kHalf, at::kBFloat16}),
        cudnn_mask(q), cudnn_widths(q), nonzero_lengths(q), cudnn_lengths(q), cudnn_dropout(q),
        cudnn_batch(q), batch_and_heads(q, Grouping::any),
        last_stride_one(q, Singleton::ignored)}) {
    if (complaint) return complaint;
  }
  return std::nullopt;
}

// ---- flash

Complaint flash_width(const Question& q) {
  const int64_t d = q.width();
  return unless(d == q.call.key.size(3) && d == q.value_width() && d <= 256,
                fmt::format("found {}, wanted one head width up to 256", tensor_sizes(q)));
}

Complaint flash_causal(const Question& q) {
  return unless(!q.call.is_causal || q.queries() == q.keys(),
                fmt::format("found causal attention of {} queries over {} keys, wanted as many "
                            "keys as queries",
                            q.queries(), q.keys()));
}

// The backward pass of wide heads needs more shared memory than these consumer GPUs have.
Complaint flash_backward_width(const Question& q) {
  const bool small = (q.sm() >= 86 && q.sm() <= 89) || q.sm() == 120 || q.sm() == 121;
  if (!small || !q.with_grad()) return std::nullopt;
  const bool too_wide =
      (q.width() > 192 && q.width() <= 224) || (q.width() > 224 && q.call.dropout_p > 0);
  return unless(!too_wide, fmt::format("found head width {} with gradients on compute capability "
                                       "{}.{}, wanted at most 192",
                                       q.width(), q.device.compute_major, q.device.compute_minor));
}

Complaint against_flash(const Question& q) {
  for (const auto& complaint :
       {enabled(at::globalContext().userEnabledFlashSDP()), four_dimensions(q)}) {
    if (complaint) return complaint;
  }
  for (const auto& complaint :
       {unless(!q.with_mask(), "found a mask, wanted none"), flash_width(q), architecture(q, 80),
        flash_backward_width(q), flash_causal(q), one_dtype(q, {at::kHalf, at::kBFloat16}),
        batch_and_heads(q, Grouping::key_equals_value), nonzero_lengths(q),
        last_stride_one(q, Singleton::ignored)}) {
    if (complaint) return complaint;
  }
  return std::nullopt;
}

// ---- memory-efficient

int64_t efficient_alignment(const Question& q) {
  const bool half = q.call.query.scalar_type() != at::kFloat;
  if (q.sm() >= 80) return half ? 8 : 4;
  return half && q.sm() >= 70 ? 8 : 1;
}

Complaint efficient_widths(const Question& q) {
  const int64_t align = efficient_alignment(q);
  const bool right = q.width() == q.call.key.size(3) && q.width() > 0 && q.value_width() > 0 &&
                     q.width() % align == 0 && q.value_width() % align == 0;
  return unless(right, fmt::format("found {}, wanted head widths that are multiples of {}, the "
                                   "same for query and key",
                                   tensor_sizes(q), align));
}

Complaint efficient_offsets(const Question& q) {
  if (q.sm() < 80) return std::nullopt;
  const int64_t align = efficient_alignment(q);
  for (const Tensor& tensor : {q.call.query, q.call.key, q.call.value}) {
    if (tensor.numel() > 0 && tensor.storage_offset() % align != 0) {
      return fmt::format("found a storage offset of {} elements, wanted a multiple of {}",
                         tensor.storage_offset(), align);
    }
  }
  return std::nullopt;
}

std::vector<at::ScalarType> efficient_dtypes(const Question& q) {
  if (q.sm() < 80) return {at::kHalf, at::kFloat};
  return {at::kHalf, at::kFloat, at::kBFloat16};
}

Complaint against_efficient(const Question& q) {
  for (const auto& complaint :
       {enabled(at::globalContext().userEnabledMemEfficientSDP()), four_dimensions(q)}) {
    if (complaint) return complaint;
  }
  for (const auto& complaint :
       {architecture(q, 50), one_dtype(q, efficient_dtypes(q)), efficient_widths(q),
        efficient_offsets(q), batch_and_heads(q, Grouping::unsupported), nonzero_lengths(q),
        last_stride_one(q, Singleton::counts)}) {
    if (complaint) return complaint;
  }
  return std::nullopt;
}

}  // namespace

Complaint complaint_against(SDPBackend backend, const AttentionCall& call,
                            const DeviceSpec& device) {
  const Question question{call, device};
  switch (backend) {
    case SDPBackend::cudnn_attention:
      return against_cudnn(question);
    case SDPBackend::flash_attention:
      return against_flash(question);
    case SDPBackend::efficient_attention:
      return against_efficient(question);
    case SDPBackend::math:
      return enabled(at::globalContext().userEnabledMathSDP());
    default:
      return "found a backend that CUDA does not have, wanted another";
  }
}

}  // namespace symprof::meta
