// The default cost of a call: every input is read once and every output written once. Rules add
// their FLOPs, and override the bytes where a kernel touches fewer (gathers, fills).
#pragma once

#include <array>

#include "base/checked.h"
#include "profile/cost/flops/rules.h"

namespace symprof::profile {

/// FLOPs of a call; a multiply-add is two.
struct Flops {
  Count product = 0;  ///< Matrix products, convolutions, attention.
  Count other = 0;
};

/// Number of elements: the product of the sizes, checked for overflow.
Count elements(const TensorSpec& tensor);
/// Elements in memory: an expanded dimension (stride 0) counts one.
Count stored_elements(const TensorSpec& tensor);
/// Bytes of the elements in memory.
Count stored_bytes(const TensorSpec& tensor);

/// Device memory bytes of `tensor`: stored_bytes, at most its whole storage (overlapping windows
/// are read from memory once); 0 when undefined or in host memory.
Count device_bytes(const Call& call, const TensorRecord& tensor);

/// Bytes of the distinct tensor arguments. The one at `except` is left out.
Count read_bytes(const Call& call, int except = none);
/// Bytes of the outputs; of argument 0 when an in-place call returns nothing (`_foreach_add_`).
Count written_bytes(const Call& call);

/// A Cost of FLOPs, bytes read and bytes written; the rule's row adds the confidence.
Cost cost(Flops flops, Count bytes_read, Count bytes_written);

/// Every distinct input read once, every output written once. An in-place call reads and writes
/// its tensor.
Cost streaming(const Call& call, Flops flops = {});

/// `flops_each` operations for each element of the first output (of the first input, when an
/// in-place call returns nothing).
template <int flops_each>
Estimate per_output(const Call& call) {
  const TensorSpec* out = call.output(0);
  if (!out) out = call.input(0);
  if (!out) return std::nullopt;
  return streaming(call, {.other = flops_each * elements(*out)});
}

/// `flops_each` operations for each element of the first input.
template <int flops_each>
Estimate per_input(const Call& call) {
  const TensorSpec* in = call.input(0);
  if (!in) return std::nullopt;
  return streaming(call, {.other = flops_each * elements(*in)});
}

/// No arithmetic; every input read, every output written.
Estimate moves(const Call& call);
/// Rows of argument 0 are gathered into the output; all other arguments are read in full.
Estimate gathers(const Call& call);
/// A comparison sort: log2(n) comparisons for each element, n at most the longest dimension.
Estimate sorts(const Call& call);
/// Argument 0 is overwritten without being read (copy_, zero_, normal_); `flops_each` per element.
template <int flops_each>
Estimate overwrites(const Call& call) {
  const TensorSpec* self = call.input_at(0);
  if (!self) return std::nullopt;
  return cost({.other = flops_each * elements(*self)}, read_bytes(call, 0), written_bytes(call));
}
/// Outputs are written and nothing is read (zeros, ones_like); `flops_each` per element.
template <int flops_each>
Estimate generates(const Call& call) {
  const TensorSpec* out = call.output(0);
  if (!out) return std::nullopt;
  return cost({.other = flops_each * elements(*out)}, 0, written_bytes(call));
}

/// Touches no element: views and metadata.
Estimate touches_nothing(const Call& call);

}  // namespace symprof::profile
