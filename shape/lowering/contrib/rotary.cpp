#include "shape/lowering/contrib/rotary.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/lowering/contrib/heads.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// Positions [batch or 1, sequence]: given individually, or as the first position (onnxruntime,
/// contrib_ops/cpu/bert/rotary_embedding.cc).
at::Tensor positions_of(const at::Tensor& given, std::int64_t sequence) {
  if (given.dim() == 2) return given;
  const at::Tensor steps = at::arange(sequence, at::device(given.device()).dtype(at::kLong));
  return at::add(steps, given.reshape({1})).unsqueeze(0);
}

/// A 3-dimensional input has the heads in the last dimension: num_heads of them or, if omitted, as
/// many as the caches' width gives.
Tensors rotary_embedding(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (call.is_set("is_packed_batching")) call.fail("is_packed_batching is not supported");
  const at::Tensor cosines = to_device_of(call.input(2), x), sines = to_device_of(call.input(3), x);
  const std::int64_t given = call.integer("num_heads", 0);
  const std::int64_t width = 2 * cosines.size(-1);
  const bool split = x.dim() == 4;
  if (!split && given == 0 && (width < 1 || x.size(-1) % width != 0))
    call.fail(fmt::format("caches of {} columns for a last dimension of {}", cosines.size(-1),
                          x.size(-1)),
              "Give num_heads.");
  const at::Tensor heads = split ? x : to_heads(call, x, given == 0 ? x.size(-1) / width : given);
  const at::Tensor positions = positions_of(to_device_of(call.input(1), x), heads.size(2));
  at::Tensor y = rotate(heads, cosines, sines, positions, call.is_set("interleaved"));
  if (const double scale = call.real("scale", 1.0); scale != 1.0)
    call.fail("a scale is not supported");
  return {split ? y : from_heads(y)};
}

/// q cos(emb) + q_rot sin(emb), and the same for k; q_rot and k_rot are inputs.
Tensors gemma_rotary_embedding(OnnxCall& call) {
  const at::Tensor& angles = call.input(0);
  const at::Tensor& q = call.input(1);
  const auto prepared = [&](const at::Tensor& x) {
    return x.to(q.device(), q.scalar_type()).unsqueeze(1);
  };
  const at::Tensor sines = prepared(at::sin(angles)), cosines = prepared(at::cos(angles));
  const auto turned = [&](std::size_t straight, std::size_t rotated) {
    return at::add(at::mul(call.input(straight), cosines), at::mul(call.input(rotated), sines));
  };
  return {turned(1, 2), turned(3, 4)};
}

/// One cosine or sine for each token, of the rows of `cache` at its three positions (time, height,
/// width; [3, batch, sequence]). Columns are in three parts, or every third one is of a part
/// (transformers, modeling_qwen3_vl.py: apply_interleaved_mrope).
at::Tensor of_three(const OnnxCall& call, const at::Tensor& cache, const at::Tensor& positions) {
  const Integers parts = call.integers("mrope_section").value_or(Integers{});
  const std::int64_t columns = cache.size(-1);
  if (parts.size() != 3 || parts[0] + parts[1] + parts[2] != columns || positions.dim() != 3 ||
      positions.size(0) != 3 || std::ranges::any_of(parts, [](auto part) { return part < 0; }))
    call.fail(fmt::format("mrope_section [{}] for {} columns and positions [{}]",
                          fmt::join(parts, ", "), columns, fmt::join(positions.sizes(), ", ")),
              "Wanted: three numbers whose sum is the columns, and [3, batch, sequence].");
  const at::Tensor rows = at::embedding(cache, positions);
  const auto of = [&](std::int64_t stream) { return at::select(rows, 0, stream); };
  if (call.integer("mrope_layout", 0) == 0) {
    const std::int64_t second = parts[0] + parts[1];
    return at::cat({at::slice(of(0), -1, 0, parts[0]), at::slice(of(1), -1, parts[0], second),
                    at::slice(of(2), -1, second, columns)},
                   -1);
  }
  const at::Tensor column = at::arange(columns, positions.options());
  const auto is_of = [&](std::int64_t stream) {
    const std::int64_t end = 3 * parts[static_cast<std::size_t>(stream)];
    return at::logical_and(at::eq(at::remainder(column, 3), stream), at::lt(column, end));
  };
  return at::where(is_of(1), of(1), at::where(is_of(2), of(2), of(0)));
}

Tensors three_rotary_embedding(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (call.is_set("is_packed_batching")) call.fail("is_packed_batching is not supported");
  if (call.real("scale", 1.0) != 1.0) call.fail("a scale is not supported");
  const at::Tensor cosines = to_device_of(call.input(2), x), sines = to_device_of(call.input(3), x);
  const at::Tensor positions = to_device_of(call.input(1), x);
  const bool split = x.dim() == 4;
  const std::int64_t given = call.integer("num_heads", 0), width = 2 * cosines.size(-1);
  if (!split && given == 0 && (width < 1 || x.size(-1) % width != 0))
    call.fail(fmt::format("caches of {} columns for a last dimension of {}", cosines.size(-1),
                          x.size(-1)),
              "Give num_heads.");
  const at::Tensor heads = split ? x : to_heads(call, x, given == 0 ? x.size(-1) / width : given);
  const at::Tensor y =
      rotate_by(heads, of_three(call, cosines, positions).unsqueeze(1),
                of_three(call, sines, positions).unsqueeze(1), call.is_set("interleaved"));
  return {split ? y : from_heads(y)};
}

constexpr Lowering rotary_rows[] = {
    {"com.microsoft::GemmaRotaryEmbedding", gemma_rotary_embedding},
    {"com.microsoft::MRotaryEmbedding", three_rotary_embedding},
    {"com.microsoft::RotaryEmbedding", rotary_embedding},
};

}  // namespace

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines,
                  const at::Tensor& positions, bool interleaved) {
  return rotate_by(x, at::embedding(cosines, positions).unsqueeze(1),
                   at::embedding(sines, positions).unsqueeze(1), interleaved);
}

at::Tensor rotate_by(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                     bool interleaved) {
  const std::int64_t size = 2 * cosine.size(-1), step = interleaved ? 2 : 1;
  const at::Tensor first = at::slice(x, 3, 0, interleaved ? size : size / 2, step);
  const at::Tensor second = at::slice(x, 3, interleaved ? 1 : size / 2, size, step);
  const at::Tensor real = at::sub(at::mul(first, cosine), at::mul(second, sine));
  const at::Tensor imaginary = at::add(at::mul(first, sine), at::mul(second, cosine));
  const at::Tensor y =
      interleaved ? at::stack({real, imaginary}, -1).flatten(3) : at::cat({real, imaginary}, 3);
  return size < x.size(3) ? at::cat({y, at::slice(x, 3, size)}, 3) : y;
}

Lowerings microsoft_rotary_lowerings() { return rotary_rows; }

}  // namespace symprof::lowering
