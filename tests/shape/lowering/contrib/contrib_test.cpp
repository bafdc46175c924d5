// Fused operators of com.microsoft cost the same as the nodes that they replace; their attention is
// PyTorch's. (Values: truth/onnx_backend/microsoft.)
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/onnx_model.h"
#include "trace/load.h"
#include "trace/onnx/reader.h"
#include "trace/passes/bind_inputs.h"

namespace symprof {
namespace {

using testing::error_of;

constexpr std::int64_t batch = 2, length = 16, hidden = 64, layers = 2;  // As in write_models.py.

Profile profile_of(const Graph& graph, Mode mode) {
  StepOptions options{.mode = mode};
  options.device = load_device(test::source_folder() + "/devices/a100-80g.json");
  Profile profile = profile::evaluate(shape::propagate(graph, options), options.device);
  CHECK(profile.coverage.unmodelled == 0);
  return profile;
}

Totals totals_of(const std::string& file, Mode mode) {
  const std::filesystem::path folder = test::source_folder() + "/truth/onnx_backend/microsoft";
  Graph graph = trace::load((folder / file).string());
  trace::bind_inputs(graph, {}, {{"batch", batch}, {"sequence", length}});
  return profile_of(graph, mode).totals;
}

/// A step of a graph in ONNX's text syntax.
Profile profile_of_text(const std::string& graph, Mode mode = Mode::eval) {
  return profile_of(
      trace::parse_onnx_text(
          R"(<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]> )" + graph, "test"),
      mode);
}

bool calls(const Profile& profile, const std::string& op) {
  const auto& ops = profile.recording.ops;
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

/// `recomputed`: FLOPs of products that a fused attention recomputes in backward.
void check_same_products(const std::string& plain, const std::string& optimized,
                         std::int64_t recomputed = 0) {
  CAPTURE(optimized);
  for (const Mode mode : {Mode::eval, Mode::train}) {
    const Totals before = totals_of(plain, mode), after = totals_of(optimized, mode);
    CHECK(before.fwd_flops > 0);
    CHECK(after.fwd_flops == before.fwd_flops);
    CHECK(after.bwd_flops == before.bwd_flops + recomputed);
    CHECK(after.input_bytes == before.input_bytes);
  }
}

}  // namespace
}  // namespace symprof

TEST_SUITE("onnx_microsoft") {
  using namespace symprof;

  TEST_CASE("a model optimized by onnxruntime has the products of the exported model") {
    check_same_products("bert.onnx", "bert_extended.onnx");
    // The product of queries and keys, in both layers.
    constexpr std::int64_t recomputed = layers * 2 * batch * length * length * hidden;
    check_same_products("bert.onnx", "bert_optimized.onnx", recomputed);
    check_same_products("gpt2.onnx", "gpt2_extended.onnx");
    check_same_products("gpt2.onnx", "gpt2_optimized.onnx", recomputed);
  }

  TEST_CASE("so has a model with weights quantized by onnxruntime") {
    const Totals plain = totals_of("gpt2.onnx", Mode::eval);
    CHECK(totals_of("gpt2_quantized.onnx", Mode::eval).fwd_flops == plain.fwd_flops);
    CHECK(totals_of("gpt2_4_bits.onnx", Mode::eval).fwd_flops == plain.fwd_flops);
  }

  TEST_CASE("the target device chooses the attention of a fused node") {
    const Profile prompt = profile_of_text(
        R"(g (float16[1,8,256] q, float16[1,8,128] k, float16[1,8,128] v, int32[1] n, int32 total)
             => (float16[1,8,256] y)
           { y = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2>
               (q, k, v, , , n, total) })");
    CHECK(calls(prompt, "aten::_scaled_dot_product_flash_attention"));
    // Two products of queries x keys x (heads x size); PyTorch counts a causal product in full.
    CHECK(prompt.totals.fwd_flops == 2 * 2 * 8 * 8 * 256);
    const Profile masked = profile_of_text(
        R"(g (float16[2,8,64] x, float16[64,192] w, float16[192] b, int32[2,8] mask)
             => (float16[2,8,64] y)
           { y = com.microsoft.Attention <num_heads = 2> (x, w, b, mask) })");
    CHECK(calls(masked, "aten::_scaled_dot_product_efficient_attention"));
    CHECK(masked.totals.fwd_flops == 2 * (2 * 8) * 64 * 192 + 2 * 2 * 2 * 8 * 8 * 64);
  }

  TEST_CASE("a decoder step attends to its cache for any lengths") {
    const Profile step = profile_of_text(
        R"(g (float16[2,1,512] qkv, float16[2,2,8,64] pk, float16[2,2,8,64] pv, int64[2,9] mask,
              float16[16,32] c, float16[16,32] s)
             => (float16[2,1,256] y, float16[2,2,9,64] nk, float16[2,2,9,64] nv)
           <int64[1] axis = {1}, int64[1] one = {1}, int64 last = {1}> {
             sums = ReduceSum <keepdims = 0> (mask, axis)
             less = Sub(sums, one)
             lengths = Cast <to = 6> (less)
             sizes = Shape(mask)
             size = Gather(sizes, last)
             total = Cast <to = 6> (size)
             y, nk, nv = com.microsoft.GroupQueryAttention
               <num_heads = 4, kv_num_heads = 2, do_rotary = 1>
               (qkv, , , pk, pv, lengths, total, c, s) })");
    CHECK(calls(step, "aten::_scaled_dot_product_flash_attention"));
    CHECK(step.totals.fwd_flops == 2 * 2 * 2 * 1 * 9 * 256);
  }

  TEST_CASE("4-bit weights cost as much as the float product") {
    const Profile profile = profile_of_text(
        R"(g (float[3,64] x, uint8[32,4,8] w, float[32,4] s) => (float[3,32] y)
           { y = com.microsoft.MatMulNBits <K = 64, N = 32, bits = 4, block_size = 16> (x, w, s) })");
    CHECK(profile.totals.fwd_flops == 2 * 3 * 64 * 32);
  }

  TEST_CASE("unsupported options are reported") {
    const auto contains = [](const std::string& text, const std::string& part) {
      return text.find(part) != text.npos;
    };
    const at::Tensor x = at::ones({1, 2, 4});
    const std::string head = "g (float[1,2,4] x) => (float y) { y = com.microsoft.";
    CHECK(contains(error_of(head + "FusedMatMulActivation <activation = \"Sine\"> (x, x) }",
                            {at::ones({2, 2})}),
                   "activation 'Sine' is not known"));
    CHECK(contains(error_of(head + "MultiHeadAttention <num_heads = 3> (x, x, x) }", {x}),
                   "[1, 2, 4] with 3 heads"));
    CHECK(contains(error_of("g (float[1,2,4] x, float[4,12] w) => (float y) { y = com.microsoft."
                            "Attention <num_heads = 2, do_rotary = 1> (x, w) }",
                            {x, at::ones({4, 12})}),
                   "do_rotary is not supported"));
    CHECK(contains(
        error_of(head + "MatMulNBits <K = 4, N = 2, block_size = 16, bits = 3> (x, x, x) }", {x}),
        "weights of 3 bits"));
  }
}
