// The attention kernel that each device takes; the rows follow sdp_utils.cpp of LibTorch 2.13.
#include "meta/attention/attention_choice.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

namespace {

using at::SDPBackend;
using at::Tensor;
using symprof::DeviceSpec;
using symprof::meta::AttentionCall;
using symprof::meta::sdp_choice;

constexpr auto cudnn = SDPBackend::cudnn_attention, flash = SDPBackend::flash_attention,
               efficient = SDPBackend::efficient_attention, math = SDPBackend::math;
constexpr auto bf16 = at::kBFloat16, f32 = at::kFloat;

DeviceSpec device(const char* name, int major, int minor) {
  DeviceSpec spec;
  spec.name = name;
  spec.compute_major = major;
  spec.compute_minor = minor;
  return spec;
}

const DeviceSpec h200 = device("h200", 9, 0), a100 = device("a100", 8, 0), t4 = device("t4", 7, 5),
                 l40s = device("l40s", 8, 9), b200 = device("b200", 10, 0);

Tensor meta(at::IntArrayRef sizes, at::ScalarType dtype) {
  return at::empty(sizes, at::TensorOptions(at::kMeta).dtype(dtype));
}

struct Shape {
  std::int64_t heads = 8, key_heads = 8, queries = 128, keys = 128, width = 64, value_width = 0;
};

enum class Mask { none, plain, three_dimensions, trained };

struct Row {
  const char* what;
  const DeviceSpec& device;
  SDPBackend wanted;
  at::ScalarType dtype = bf16;
  Shape shape = {};
  Mask mask = Mask::none;
  double dropout_p = 0;
  bool is_causal = false;
};

std::optional<Tensor> mask_of(const Row& row) {
  const auto& s = row.shape;
  switch (row.mask) {
    case Mask::none:
      return std::nullopt;
    case Mask::plain:
      return meta({1, 1, s.queries, s.keys}, row.dtype);
    case Mask::three_dimensions:
      return meta({s.heads, s.queries, s.keys}, row.dtype);
    case Mask::trained:
      return meta({1, 1, s.queries, s.keys}, row.dtype).requires_grad_();
  }
  return std::nullopt;
}

AttentionCall call_of(const Row& row) {
  const auto& s = row.shape;
  const std::int64_t value_width = s.value_width != 0 ? s.value_width : s.width;
  AttentionCall call;
  call.query = meta({2, s.heads, s.queries, s.width}, row.dtype);
  call.key = meta({2, s.key_heads, s.keys, s.width}, row.dtype);
  call.value = meta({2, s.key_heads, s.keys, value_width}, row.dtype);
  call.mask = mask_of(row);
  call.dropout_p = row.dropout_p;
  call.is_causal = row.is_causal;
  call.enable_gqa = s.heads != s.key_heads;
  return call;
}

const Row rows[] = {
    {"bf16", h200, cudnn},
    {"bf16 with a mask", h200, cudnn, bf16, {}, Mask::plain},
    {"grouped heads", h200, cudnn, bf16, {8, 2}},
    {"causal, more keys", h200, cudnn, bf16, {8, 8, 64, 128}, Mask::none, 0, true},
    {"width 256", h200, cudnn, bf16, {8, 8, 128, 128, 256}},
    {"wider value", h200, cudnn, bf16, {8, 8, 128, 128, 64, 128}},
    {"dropout of 2/16", h200, cudnn, bf16, {}, Mask::none, 0.125},
    {"dropout of 0.1", h200, flash, bf16, {}, Mask::none, 0.1},
    {"width 36", h200, flash, bf16, {8, 8, 128, 128, 36}},
    {"one key", h200, flash, bf16, {8, 8, 128, 1}},
    {"trained mask", h200, efficient, bf16, {}, Mask::trained},
    {"mask of three dimensions", h200, efficient, bf16, {}, Mask::three_dimensions},
    {"f32", h200, efficient, f32},
    {"f32, width 66", h200, math, f32, {8, 8, 128, 128, 66}},
    {"f32, grouped heads", h200, math, f32, {8, 2}},
    {"no queries", h200, math, bf16, {8, 8, 0}},
    {"bf16", a100, flash},
    {"bf16 with a mask", a100, efficient, bf16, {}, Mask::plain},
    {"grouped heads", a100, flash, bf16, {8, 2}},
    {"grouped heads with a mask", a100, math, bf16, {8, 2}, Mask::plain},
    {"causal, more keys", a100, efficient, bf16, {8, 8, 64, 128}, Mask::none, 0, true},
    {"wider value", a100, efficient, bf16, {8, 8, 128, 128, 64, 128}},
    {"f16", t4, efficient, at::kHalf},
    {"bf16", t4, math},
    {"f32, width 66", t4, efficient, f32, {8, 8, 128, 128, 66}},
    {"bf16", l40s, flash},
    {"width 192 and 128", b200, cudnn, bf16, {8, 8, 128, 128, 192, 128}},
    {"width 256", b200, flash, bf16, {8, 8, 128, 128, 256}},
};

}  // namespace

TEST_SUITE("attention_choice") {
  TEST_CASE("each device takes the first kernel whose checks pass") {
    for (const Row& row : rows) {
      INFO(row.what, " on ", row.device.name);
      CHECK(sdp_choice(call_of(row), {row.device, std::nullopt}) == row.wanted);
    }
  }

  TEST_CASE("an older cuDNN is not preferred") {
    DeviceSpec older = h200;
    older.cudnn_version = 91002;
    CHECK(sdp_choice(call_of({"", older, flash}), {older, std::nullopt}) == flash);
  }

  TEST_CASE("flash attention refuses wide heads with gradients and dropout on consumer GPUs") {
    AttentionCall call =
        call_of({"", l40s, efficient, bf16, {8, 8, 128, 128, 256}, Mask::none, 0.1});
    CHECK(sdp_choice(call, {l40s, std::nullopt}) == flash);
    call.query.requires_grad_();
    CHECK(sdp_choice(call, {l40s, std::nullopt}) == efficient);
  }

  TEST_CASE("a forced kernel runs or reports the failed check") {
    const Row row{"", h200, efficient, f32};
    CHECK(sdp_choice(call_of(row), {h200, math}) == math);
    try {
      sdp_choice(call_of(row), {h200, flash});
      FAIL("flash attention took f32");
    } catch (const symprof::Error& error) {
      CHECK(std::string(error.what()) ==
            "flash attention on h200: found query Float, key Float, value Float, wanted one of "
            "Half, BFloat16 for all three\n  choose another backend, or let the device choose");
    }
  }

  TEST_CASE("three-dimensional tensors fall back to math") {
    AttentionCall call;
    call.query = call.key = call.value = meta({8, 128, 64}, bf16);
    CHECK(sdp_choice(call, {h200, std::nullopt}) == math);
  }
}
