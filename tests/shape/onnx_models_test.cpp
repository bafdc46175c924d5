// The ONNX and the .pt2 file of a model cost the same, or differ by changes of the exporter: each
// difference is a formula here and explained in docs/evaluation/accuracy.md.
#include <doctest/doctest.h>

#include <filesystem>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::onnx_models_test {
namespace {

using trace::TrainingMode;

constexpr std::int64_t f32 = 4, i64 = 8;
constexpr std::int64_t block = 512;  // The allocator's smallest block, in bytes.

// Bytes of the ONNX file minus bytes of the .pt2.
struct Difference {
  std::int64_t saved = 0, parameters = 0, buffers = 0, peak = 0;
};

struct Pair {
  std::string onnx, exported;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // For the ONNX file's dimensions.
  AttentionBackend onnx_attention = AttentionBackend::automatic;
  AttentionBackend exported_attention = onnx_attention;
  Difference train = {}, eval = train;
};

Totals totals_of(const std::string& file, TrainingMode training, AttentionBackend attention,
                 const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  const std::filesystem::path source = test::source_folder();
  Graph graph = trace::load((source / "models" / file).string());
  trace::set_training_mode(graph, training);
  trace::bind_inputs(graph, {}, sizes);
  StepOptions options{.mode = training == TrainingMode::eval ? Mode::eval : Mode::train,
                      .attention = attention,
                      .lifetimes = Lifetimes::last_use};
  options.device = load_device((source / "devices/h200.json").string());
  const Profile profile = profile::evaluate(shape::propagate(graph, options), options.device);
  CHECK(profile.coverage.unmodelled == 0);
  return profile.totals;
}

void check(const Pair& pair, TrainingMode training) {
  CAPTURE(pair.onnx);
  CAPTURE((training == TrainingMode::eval));
  const Totals onnx = totals_of(pair.onnx, training, pair.onnx_attention, pair.sizes);
  const Totals exported = totals_of(pair.exported, training, pair.exported_attention, {});
  const Difference& more = training == TrainingMode::eval ? pair.eval : pair.train;
  CHECK(onnx.fwd_flops == exported.fwd_flops);
  CHECK(onnx.bwd_flops == exported.bwd_flops);
  CHECK(onnx.input_bytes == exported.input_bytes);
  CHECK(onnx.saved_bytes == exported.saved_bytes + more.saved);
  CHECK(onnx.param_bytes == exported.param_bytes + more.parameters);
  CHECK(onnx.buffer_bytes == exported.buffer_bytes + more.buffers);
  CHECK(onnx.tensor_peak.bytes == exported.tensor_peak.bytes + more.peak);
}

void check(const Pair& pair) {
  check(pair, TrainingMode::train);
  check(pair, TrainingMode::eval);
}

// num_batches_tracked, one int64 per batch norm, is missing in an ONNX file.
constexpr Difference without_batch_counts(std::int64_t norms) {
  return {.buffers = -norms * i64, .peak = -norms * block};
}

constexpr auto math = AttentionBackend::math;

}  // namespace

TEST_SUITE("onnx_models") {
  TEST_CASE("files of the dynamo exporter") {
    check(Pair{.onnx = "vit_b_16.onnx", .exported = "vit_b_16.pt2", .sizes = {{"batch", 8}}});
    check(Pair{.onnx = "gpt2.onnx", .exported = "gpt2.pt2"});
    check(Pair{.onnx = "tiny/mlp.onnx", .exported = "tiny/mlp.pt2", .sizes = {{"batch", 8}}});

    constexpr std::int64_t resnet50_norms = 53, convnet_norms = 2;
    check(Pair{.onnx = "resnet50.onnx",
               .exported = "resnet50.pt2",
               .train = without_batch_counts(resnet50_norms)});
    check(Pair{.onnx = "tiny/convnet.onnx",
               .exported = "tiny/convnet.pt2",
               .train = without_batch_counts(convnet_norms)});

    // rotary_emb.original_inv_freq, [64] float32, is a buffer that nothing reads.
    for (const std::string name : {"llama_7b", "llama_7b_gqa"})
      check(Pair{.onnx = name + ".onnx",
                 .exported = name + ".pt2",
                 .train = {.buffers = -64 * f32, .peak = -block}});

    // The positions, [1, 128] int64, are a view of a buffer in the .pt2 and a separate buffer here.
    // Of the .pt2's two buffers [1, 512] one remains; the indices that gather the mask are folded
    // to [8, 1, 1, 128, 2].
    constexpr std::int64_t buffers = (128 + 8 * 128 * 2 - 512) * i64;
    check(Pair{.onnx = "bert_base.onnx",
               .exported = "bert_base.pt2",
               .train = {.buffers = buffers, .peak = buffers}});
  }

  TEST_CASE("small files of the dynamo exporter") {
    // A tied weight, [96, 32], is in the file a second time, transposed, with the causal mask, [16,
    // 16].
    constexpr std::int64_t weight = 96 * 32 * f32, mask = 16 * 16 * f32;
    check(Pair{.onnx = "tiny/tied_lm.onnx",
               .exported = "tiny/tied_lm.pt2",
               .train = {.parameters = weight, .buffers = mask, .peak = weight + mask}});
    // Zeros, [4, 16], are a constant; a slice assignment becomes a scatter with 8 indices.
    check(Pair{.onnx = "tiny/aliases.onnx",
               .exported = "tiny/aliases.pt2",
               .train = {.saved = 8 * i64, .buffers = 4 * 16 * f32, .peak = block}});
    // A buffer of 4 indices is a constant that is copied to the device; full_like, [2, 16, 4], is a
    // constant, too.
    constexpr std::int64_t order = 4 * i64;
    check(Pair{.onnx = "tiny/rearranged.onnx",
               .exported = "tiny/rearranged.pt2",
               .train = {.saved = order, .buffers = 2 * 16 * 4 * f32 - order, .peak = block}});
    // unfold is a Gather of 6 windows of 2: its indices are saved, and its backward copies the
    // gradient of the windows.
    check(Pair{.onnx = "tiny/dynamic_shapes.onnx",
               .exported = "tiny/dynamic_shapes.pt2",
               .sizes = {{"batch", 4}, {"length", 6}},
               .train = {.saved = 6 * 2 * i64, .peak = 2 * block}});
  }

  TEST_CASE("decomposed attention") {
    // The exporter drops contiguous(), which has no meaning in ONNX: query, key and value are
    // copied separately instead of in one tensor, and once scaled, query and key are released.
    constexpr std::int64_t vit = 8 * 12 * 197 * 64 * f32;
    constexpr std::int64_t packed = -12 * 2 * vit;
    check(Pair{.onnx = "vit_b_16.onnx",
               .exported = "vit_b_16.pt2",
               .sizes = {{"batch", 8}},
               .onnx_attention = math,
               .train = {.saved = packed, .peak = packed}});
    // The exporter drops the dropout inside attention: its output and its mask.
    constexpr std::int64_t gpt2 = 4 * 12 * 512 * 512, dropped = -12 * (gpt2 * f32 + gpt2);
    check(Pair{.onnx = "gpt2.onnx",
               .exported = "gpt2.pt2",
               .onnx_attention = math,
               .train = {.saved = dropped, .peak = dropped},
               .eval = {}});
    for (const std::string name : {"llama_7b", "llama_7b_gqa"})
      check(Pair{.onnx = name + ".onnx",
                 .exported = name + ".pt2",
                 .onnx_attention = math,
                 .train = {.buffers = -64 * f32, .peak = -block}});
  }

  TEST_CASE("files of the TorchScript-based exporter") {
    check(Pair{.onnx = "resnet50_torchscript.onnx",
               .exported = "resnet50.pt2",
               .train = without_batch_counts(53)});

    // silu is Sigmoid and Mul: the sigmoid, [2, 8, 16, 16], is also saved, and while both parts of
    // the backward run there is one more gradient.
    constexpr std::int64_t sigmoid = 2 * 8 * 16 * 16 * f32;
    const Difference norms = without_batch_counts(2);
    check(Pair{
        .onnx = "tiny/convnet_torchscript.onnx",
        .exported = "tiny/convnet.pt2",
        .train = {.saved = sigmoid, .buffers = norms.buffers, .peak = 2 * sigmoid + norms.peak}});

    // Attention is decomposed, so it is compared with the .pt2's part by part. _safe_softmax is
    // Softmax, IsNaN and Where, which saves its condition and, without dropout, also Where's
    // result. Token types are expanded before they are copied to the device, [8, 128]; the .pt2's
    // two buffers are shape arithmetic here, and 36 numbers are one-element tensors.
    constexpr std::int64_t scores = 8 * 12 * 128 * 128, layers = 12, types = 8 * 128 * i64;
    constexpr std::int64_t train = layers * scores + types;
    constexpr std::int64_t eval = train + layers * scores * f32;
    constexpr std::int64_t buffers = -2 * 512 * i64, numbers = 36;
    check(Pair{.onnx = "bert_base_torchscript.onnx",
               .exported = "bert_base.pt2",
               .exported_attention = math,
               .train = {.saved = train,
                         .buffers = buffers + numbers * f32,
                         .peak = train + buffers + numbers * block},
               .eval = {.saved = eval,
                        .buffers = buffers + numbers * f32,
                        .peak = eval + buffers + numbers * block}});
  }
}

}  // namespace symprof::onnx_models_test
