// Rows of several nodes.
#include "profile/fold.h"

#include <doctest/doctest.h>

#include "tests/support/recording_builder.h"

namespace symprof::test::fold_test {
namespace {

using profile::FoldBy;
using profile::FoldedRow;

constexpr std::int64_t M = 8, K = 16;
constexpr std::int64_t bytes = 4 * M * K;

/// x -> block.attention (two nodes, one kept inside) -> add -> block.mlp.0 -> output. Every node
/// produces a tensor of one size and needs gradients of its inputs.
struct Chain : RecordingBuilder {
  NodeId input = node("x", NodeKind::input);
  NodeId scores = node("scores"), mix = node("mix"), add = node("add"), mlp = node("mlp");
  NodeId output = node("output", NodeKind::output);
  TensorRecord w = fresh(tensor({K, K}), {.kind = StorageKind::parameter});
  TensorRecord x, s, m, a, y;

  Chain() {
    recording().modules = {{"", "model.Net"},
                           {"block", "model.Block"},
                           {"block.attention", "torch.nn.modules.activation.MultiheadAttention"},
                           {"block.attention.out", "torch.nn.modules.linear.Linear"},
                           {"block.mlp", "torch.nn.modules.container.Sequential"},
                           {"block.mlp.0", "torch.nn.modules.linear.Linear"}};
    x = fresh(tensor({M, K}), {.kind = StorageKind::input, .node = input});
    (*this)[input].outputs = {x};
    s = make(scores, {x, w}, {0, 1, 2}, "aten::mm");
    m = make(mix, {s, w}, {0, 1, 2, 3}, "aten::mm");
    a = make(add, {x, m}, {0, 1}, "aten::add");
    y = make(mlp, {a, w}, {0, 1, 4, 5}, "aten::mm");
    (*this)[output].inputs = {y};
    at(s.storage).saved = at(m.storage).saved = true;
  }

  TensorRecord make(NodeId id, std::vector<TensorRecord> inputs, std::vector<std::int32_t> scopes,
                    const std::string& op) {
    const TensorRecord made = fresh(tensor({M, K}), {.node = id});
    NodeRecord& record = (*this)[id];
    record.op = op;
    record.scopes = std::move(scopes);
    record.module = recording().modules[record.scopes.back()].path;
    for (const TensorRecord& taken : inputs)
      if (taken.storage == w.storage)
        record.parameters = {w.storage};
      else
        record.input_gradient_bytes += bytes;
    record.inputs = inputs;
    record.outputs = {made};
    call_on(op, std::move(inputs), {made}, id);
    return made;
  }

  std::vector<FoldedRow> fold(profile::FoldOptions options) {
    return profile::fold(profile::evaluate(recording(), {}), options);
  }
};

std::vector<std::string> names(const std::vector<FoldedRow>& rows) {
  std::vector<std::string> result;
  for (const FoldedRow& row : rows) result.push_back(row.kind + " " + row.name);
  return result;
}

}  // namespace

TEST_SUITE("fold") {
  TEST_CASE("by node every row is a node") {
    const auto rows = Chain().fold({});
    CHECK(names(rows) == std::vector<std::string>{"placeholder x", "call_function scores",
                                                  "call_function mix", "call_function add",
                                                  "call_function mlp", "output output"});
    CHECK(rows[1].figures.backward_bytes == bytes);
  }

  TEST_CASE("leaf modules become one row each, as torch.fx has them") {
    const auto rows = Chain().fold({FoldBy::module});
    CHECK(names(rows) == std::vector<std::string>{"placeholder x", "call_module block_attention",
                                                  "call_function add", "call_module block_mlp_0",
                                                  "output output"});
    const RowFigures& attention = rows[1].figures;
    CHECK(rows[1].nodes.size() == 2);
    CHECK(attention.fwd_product_flops == 2 * (2 * M * K * K));
    CHECK(attention.incremental_bytes == 2 * bytes);  // Both are saved for backward,
    CHECK(attention.output_bytes == bytes);           // one of them leaves the module.
    CHECK(attention.param_bytes == 4 * K * K);        // Used twice, counted once.
    CHECK(attention.backward_bytes == bytes);         // x; internal tensors do not count.
  }

  TEST_CASE("modules at a depth") {
    const auto one = Chain().fold({FoldBy::module, 1});
    CHECK(names(one) ==
          std::vector<std::string>{"placeholder x", "call_module block", "output output"});
    CHECK(one[1].figures.temp_bytes == bytes);      // y leaves and is not saved.
    CHECK(one[1].figures.output_bytes == 0);        // s and m stay inside.
    CHECK(one[1].figures.backward_bytes == bytes);  // x, taken twice.
    const auto two = Chain().fold({FoldBy::module, 2});
    CHECK(names(two) == std::vector<std::string>{"placeholder x", "call_module block.attention",
                                                 "call_module block", "call_module block.mlp",
                                                 "output output"});
    CHECK(names(Chain().fold({FoldBy::module, 9})).size() == 6);
  }

  TEST_CASE("by operator") {
    const auto rows = Chain().fold({FoldBy::op});
    CHECK(names(rows) == std::vector<std::string>{"placeholder x", "call_function aten::mm",
                                                  "call_function aten::add", "output output"});
    CHECK(rows[1].nodes.size() == 3);
    CHECK(rows[1].module.empty());
  }

  TEST_CASE("FLOPs, saved bytes and nodes are preserved by any folding") {
    Chain chain;
    const Profile profile = profile::evaluate(chain.recording(), {});
    for (const profile::FoldOptions options : {profile::FoldOptions{FoldBy::node},
                                               {FoldBy::module},
                                               {FoldBy::module, 0},
                                               {FoldBy::module, 1},
                                               {FoldBy::module, 2},
                                               {FoldBy::op}}) {
      const auto rows = profile::fold(profile, options);
      std::int64_t flops = 0;
      std::size_t nodes = 0;
      for (const FoldedRow& row : rows) {
        flops += row.figures.fwd_product_flops + row.figures.fwd_other_flops;
        nodes += row.nodes.size();
      }
      CHECK(flops == profile.totals.fwd_flops_all);
      CHECK(nodes == profile.nodes.size());
      CHECK(rows.back().figures.accumulate_bytes == profile.totals.saved_bytes_with_inputs);
    }
  }

  TEST_CASE("a module called again later has a row for each call") {
    Chain chain;
    const NodeId again = chain.node("again");
    chain.make(again, {chain.y, chain.w}, {0, 1, 2}, "aten::mm");
    const auto rows = chain.fold({FoldBy::module});
    CHECK(rows.back().name == "block_attention");
    CHECK(rows.back().nodes == std::vector<NodeId>{again});
  }
}

}  // namespace symprof::test::fold_test
