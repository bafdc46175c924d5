// The table printed by Colossal-AI's Analyzer for ViT-B/16 at batch 8 (symbolic_profile, fp32, one
// FLOP per multiply-add), row by row. The document's figure is next to each formula; a comment
// explains each difference. Its Kb, Mb and Gb are KiB, MiB and GiB.
#include <doctest/doctest.h>

#include <algorithm>

#include "profile/fold.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::analyzer_table_test {
namespace {

constexpr std::int64_t f32 = 4;
constexpr std::int64_t batch = 8, classes = 1000, width = 768, hidden = 3072, heads = 12;
constexpr std::int64_t patch = 16, side = 224 / patch, layers = 12;
constexpr std::int64_t length = side * side + 1;         // Plus the class token: 197.
constexpr std::int64_t tokens = batch * length * width;  // Elements of an encoder activation.
constexpr std::int64_t scores = batch * heads * length * length;
constexpr std::int64_t statistics = 2 * batch * length * f32;  // Mean and rstd of a layer norm.

// As `symprof profile --by module --attention math --unit macs --mode eval`.
struct Table {
  Profile profile;
  std::vector<profile::FoldedRow> rows;

  const profile::FoldedRow& row(std::string_view name) const {
    const auto found = std::ranges::find(rows, name, &profile::FoldedRow::name);
    REQUIRE_MESSAGE(found != rows.end(), "no row " << name);
    return *found;
  }
  const RowFigures& figures(std::string_view name) const { return row(name).figures; }
  std::int64_t forward(std::string_view name) const {
    return figures(name).fwd_product_flops / 2 + figures(name).fwd_other_flops;
  }
  std::int64_t backward(std::string_view name) const {
    return figures(name).bwd_product_flops / 2 + figures(name).bwd_other_flops;
  }
};

const Table& table() {
  static const Table result = [] {
    Graph graph = trace::load(test::source_folder() + "/models/vit_b_16.pt2");
    trace::set_training_mode(graph, trace::TrainingMode::eval);
    trace::bind_inputs(graph, {}, {});
    StepOptions options{.mode = Mode::eval, .attention = AttentionBackend::math};
    options.device = load_device(test::source_folder() + "/devices/h200.json");
    Profile profile = profile::evaluate(shape::propagate(graph, options), options.device);
    std::vector<profile::FoldedRow> rows =
        profile::fold(profile, {.by = profile::FoldBy::module, .depth = {}});
    return Table{std::move(profile), std::move(rows)};
  }();
  return result;
}

std::string in_layer(std::int64_t layer, const std::string& part) {
  return "encoder_layers_encoder_layer_" + std::to_string(layer) + "_" + part;
}

}  // namespace

TEST_SUITE("analyzer_table") {
  TEST_CASE("the input and the patches") {
    const Table& t = table();
    constexpr std::int64_t patches = batch * width * side * side;
    CHECK(t.figures("x").output_bytes == batch * 3 * 224 * 224 * f32);          // 4.59 Mb
    CHECK(t.row("x").figures.accumulate_bytes == batch * 3 * 224 * 224 * f32);  // 4.59 Mb

    CHECK(t.forward("conv_proj") == patches * 3 * patch * patch);   // 924.84 M
    CHECK(t.backward("conv_proj") == patches * 3 * patch * patch);  // 924.84 M: the weight's alone
    CHECK(t.figures("conv_proj").param_bytes ==
          (width * 3 * patch * patch + width) * f32);           // 2.25 Mb
    CHECK(t.figures("conv_proj").temp_bytes == patches * f32);  // 4.59 Mb
    // 4.59 Mb in the document; the image needs no gradient, and convolution_backward computes none.
    CHECK(t.figures("conv_proj").backward_bytes == 0);
    // 4.59 Mb of temporaries in the document; both are views without memory.
    CHECK(t.figures("reshape").temp_bytes == 0);
    CHECK(t.figures("permute").temp_bytes == 0);
    CHECK(t.figures("permute").backward_bytes == patches * f32);  // 4.59 Mb

    CHECK(t.figures("expand").param_bytes == width * f32);        // 3.00 Kb, the class token
    CHECK(t.figures("expand").temp_bytes == 0);                   // 24.00 Kb: a view
    CHECK(t.backward("expand") == batch * width);                 // 6.14 k
    CHECK(t.figures("cat").temp_bytes == tokens * f32);           // 4.62 Mb
    CHECK(t.forward("add") == tokens);                            // 1.21 M
    CHECK(t.backward("add") == tokens);                           // 1.21 M: summed over the batch
    CHECK(t.figures("add").param_bytes == length * width * f32);  // 591.00 Kb
    CHECK(t.figures("add").incremental_bytes == tokens * f32);    // 4.62 Mb
    CHECK(t.figures("add").output_bytes == tokens * f32);         // 4.62 Mb
    CHECK(t.figures("add").backward_bytes == tokens * f32);       // 4.62 Mb
  }

  TEST_CASE("layer norms") {
    const Table& t = table();
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      for (const char* name : {"ln_1", "ln_2"}) {
        const std::string norm = in_layer(layer, name);
        CHECK(t.forward(norm) == 5 * tokens);  // 6.05 M
        // 6.05 M in the document. Its input is also the residual's: the engine adds both gradients
        // in place, in a separate call that belongs to the node that ran last.
        CHECK(t.backward(norm) == 5 * tokens + tokens);
        CHECK(t.figures(norm).param_bytes == 2 * width * f32);  // 6.00 Kb
        CHECK(t.figures(norm).backward_bytes == tokens * f32);  // 4.62 Mb
      }
      // The document counts a tensor at the node that first saves it, this table at its producer:
      // ln_1's output is copied by the projection and freed, ln_2's is saved by mlp_0.
      CHECK(t.figures(in_layer(layer, "ln_1")).incremental_bytes == statistics);  // 12.31 Kb
      CHECK(t.figures(in_layer(layer, "ln_1")).temp_bytes == tokens * f32);       // 4.62 Mb
      CHECK(t.figures(in_layer(layer, "ln_2")).incremental_bytes ==
            statistics + tokens * f32);  // 12.31 Kb, and 4.62 Mb of the 23.09 Mb of mlp_0
    }
    CHECK(t.forward("encoder_ln") == 5 * tokens);   // 6.05 M
    CHECK(t.backward("encoder_ln") == 5 * tokens);  // 6.05 M
    // 36.31 Kb in the document, which counts only the elements of the view x[:, 0] (24.00 Kb of
    // it). The view keeps the whole tensor alive.
    CHECK(t.figures("encoder_ln").incremental_bytes == statistics + tokens * f32);
  }

  TEST_CASE("self-attention") {
    const Table& t = table();
    constexpr std::int64_t projections = tokens * 3 * width + tokens * width;
    constexpr std::int64_t products = 2 * tokens * length;  // Scores and weighted values.
    constexpr std::int64_t scaling = 2 * tokens;            // Queries and keys.
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const std::string attention = in_layer(layer, "self_attention");
      const RowFigures& figures = t.figures(attention);
      constexpr std::int64_t bias = 3 * tokens;
      CHECK(t.forward(attention) == projections + products + bias + scaling + scores);  // 4.20 G
      // 8.40 G in the document. The gradients of q, k and v are accumulated into the packed
      // projection's, two calls of 3 * tokens; without them it is 8.40 G.
      constexpr std::int64_t gradient_sums = 2 * 3 * tokens;
      constexpr std::int64_t bias_gradients = 3 * tokens + tokens;
      CHECK(t.backward(attention) ==
            2 * (projections + products) + bias_gradients + scaling + scores + gradient_sums);
      CHECK(figures.param_bytes ==
            (3 * width * width + 3 * width + width * width + width) * f32);  // 9.01 Mb
      CHECK(figures.temp_bytes == tokens * f32);                             // 4.62 Mb
      // 13.85 Mb in the document, which counts query, key and value separately; they are one
      // tensor.
      CHECK(figures.backward_bytes == tokens * f32);
      // 37.30 Mb in the first layer, 32.68 Mb and 4.62 Mb at ln_1 in the others: the projection's
      // input, the packed projection, the attention's weights and the output projection's input.
      // Today's decomposition also saves the scaled q and k, as operands of their product.
      constexpr std::int64_t document = tokens + 3 * tokens + scores + tokens;
      CHECK(figures.incremental_bytes == (document + 2 * tokens) * f32);
    }
  }

  TEST_CASE("the multi-layer perceptron") {
    const Table& t = table();
    constexpr std::int64_t inner = batch * length * hidden;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const auto row = [&](const char* part) { return in_layer(layer, part); };
      CHECK(t.forward(row("mlp_0")) == inner * width);               // 3.72 G
      CHECK(t.backward(row("mlp_0")) == 2 * inner * width + inner);  // 7.44 G, bias included
      CHECK(t.figures(row("mlp_0")).param_bytes == (hidden * width + hidden) * f32);  // 9.01 Mb
      CHECK(t.figures(row("mlp_0")).output_bytes == inner * f32);                     // 18.47 Mb
      CHECK(t.figures(row("mlp_0")).backward_bytes == tokens * f32);                  // 4.62 Mb
      // 23.09 Mb in the document: with its input, see the layer norms.
      CHECK(t.figures(row("mlp_0")).incremental_bytes == inner * f32);

      CHECK(t.forward(row("mlp_1")) == inner);                          // 4.84 M, GELU
      CHECK(t.backward(row("mlp_1")) == inner);                         // 4.84 M
      CHECK(t.figures(row("mlp_1")).incremental_bytes == inner * f32);  // 18.47 Mb
      CHECK(t.figures(row("mlp_1")).backward_bytes == inner * f32);     // 18.47 Mb
      CHECK(t.figures(row("mlp_2")).incremental_bytes == 0);            // 0 b, dropout
      CHECK(t.figures(row("mlp_2")).output_bytes == 0);  // 18.47 Mb: in evaluation, its input
      CHECK(t.forward(row("mlp_3")) == inner * width);   // 3.72 G
      CHECK(t.backward(row("mlp_3")) == 2 * inner * width + tokens);                 // 7.44 G
      CHECK(t.figures(row("mlp_3")).param_bytes == (width * hidden + width) * f32);  // 9.00 Mb
      CHECK(t.figures(row("mlp_3")).temp_bytes == tokens * f32);                     // 4.62 Mb
      CHECK(t.figures(row("mlp_3")).backward_bytes == inner * f32);                  // 18.47 Mb

      const std::string residual = "add_" + std::to_string(2 * layer + 2);
      CHECK(t.forward(residual) == tokens);                           // 1.21 M
      CHECK(t.backward(residual) == 0);                               // 0
      CHECK(t.figures(residual).incremental_bytes == tokens * f32);   // 4.62 Mb
      CHECK(t.figures(residual).backward_bytes == 2 * tokens * f32);  // 9.23 Mb
    }
  }

  TEST_CASE("the head and the sum") {
    const Table& t = table();
    CHECK(t.forward("heads_head") == batch * width * classes);                         // 6.14 M
    CHECK(t.backward("heads_head") == 2 * batch * width * classes + batch * classes);  // 12.30 M
    CHECK(t.figures("heads_head").param_bytes == (width * classes + classes) * f32);   // 2.93 Mb
    CHECK(t.figures("heads_head").temp_bytes == batch * classes * f32);                // 31.25 Kb
    CHECK(t.figures("heads_head").backward_bytes == batch * width * f32);              // 24.00 Kb
    CHECK(t.figures("output").backward_bytes == batch * classes * f32);                // 31.25 Kb

    // 1.04 Gb in the document. Ours includes the scaled q and k of each layer and all of
    // encoder_ln's output, of which the document counts the first token.
    constexpr std::int64_t document = 1'118'392'640;
    constexpr std::int64_t scaled = layers * 2 * tokens * f32;
    constexpr std::int64_t behind_the_view = (tokens - batch * width) * f32;
    CHECK(t.row("output").figures.accumulate_bytes == document + scaled + behind_the_view);
    CHECK(t.row("output").figures.accumulate_bytes == 1'239'404'864);
    CHECK(t.profile.totals.saved_bytes_with_inputs == 1'239'404'864);

    constexpr std::int64_t mlp = 2 * batch * length * hidden;
    constexpr std::int64_t layer =
        (2 * statistics / f32) + (7 * tokens + scores) + 3 * tokens + mlp;
    constexpr std::int64_t ends = batch * 3 * 224 * 224 + tokens + (statistics / f32 + tokens);
    CHECK(t.row("output").figures.accumulate_bytes == (layers * layer + ends) * f32);
  }
}

}  // namespace symprof::analyzer_table_test
