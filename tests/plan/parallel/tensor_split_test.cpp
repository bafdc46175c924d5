#include "plan/parallel/tensor_split.h"

#include <doctest/doctest.h>

#include "tests/support/recording_builder.h"

using namespace symprof;
using namespace symprof::plan;

namespace symprof::test::tensor_split_test {
namespace {

/// Builds a block: nodes that read and write tensors over named storages.
class BlockBuilder {
 public:
  TensorRecord value(Sizes sizes, StorageKind kind = StorageKind::activation) {
    return builder_.fresh(tensor(std::move(sizes)), {.kind = kind});
  }

  TensorRecord linear(const std::string& module, const TensorRecord& input, std::int64_t out,
                      std::int64_t in) {
    const TensorRecord weight = value({out, in}, StorageKind::parameter);
    return node("aten::linear", module, "torch.nn.modules.linear.Linear", {input, weight},
                {2, 8, out}, {weight.storage});
  }

  TensorRecord node(const std::string& op, const std::string& module, const std::string& type,
                    std::vector<TensorRecord> inputs, Sizes output,
                    std::vector<StorageId> parameters = {}) {
    const NodeId id = builder_.node(op);
    const TensorRecord made = value(std::move(output));
    NodeRecord& record = builder_[id];
    record.op = op, record.module = module, record.module_type = type;
    record.inputs = std::move(inputs), record.outputs = {made};
    record.parameters = std::move(parameters);
    last_ = id;
    return made;
  }

  NodeId last() const { return last_; }
  TensorSplit split() { return find_tensor_split(builder_.recording(), {"layers.0"}); }

 private:
  RecordingBuilder builder_;
  NodeId last_ = none;
};

}  // namespace

TEST_SUITE("tensor_split") {
  TEST_CASE("a gated layer splits into two column layers and one row layer") {
    BlockBuilder b;
    const TensorRecord x = b.value({2, 8, 16});
    const TensorRecord gate = b.linear("layers.0.mlp.gate", x, 32, 16);
    const TensorRecord up = b.linear("layers.0.mlp.up", x, 32, 16);
    const TensorRecord product =
        b.node("aten::mul", "layers.0.mlp", "Gated", {gate, up}, {2, 8, 32});
    const NodeId inside = b.last();
    const TensorRecord down = b.linear("layers.0.mlp.down", product, 16, 32);
    b.node("aten::add", "layers.0", "Block", {x, down}, {2, 8, 16});
    const TensorSplit split = b.split();
    REQUIRE(split.linears.size() == 3);
    CHECK(split.linears[0].style == NodeSplit::column);
    CHECK(split.linears[1].style == NodeSplit::column);
    CHECK(split.linears[2].style == NodeSplit::row);
    CHECK(split.nodes[static_cast<std::size_t>(inside)] == NodeSplit::inside);
    CHECK(split.nodes[static_cast<std::size_t>(b.last())] == NodeSplit::whole);
    CHECK(split.gathering_modules == std::vector<std::string>{"layers.0.mlp"});
    CHECK(split.allows(4));
    CHECK_FALSE(split.allows(3));
  }

  TEST_CASE("the ranks must divide the heads that a view makes") {
    BlockBuilder b;
    const TensorRecord x = b.value({2, 8, 16});
    const TensorRecord q = b.linear("layers.0.q", x, 24, 16);
    const TensorRecord heads = b.node("aten::view", "layers.0", "Block", {q}, {2, 8, 6, 4});
    const TensorRecord out = b.node("aten::scaled_dot_product_attention", "layers.0", "Block",
                                    {heads, heads, heads}, {2, 8, 6, 4});
    const TensorRecord flat = b.node("aten::view", "layers.0", "Block", {out}, {2, 8, 24});
    b.linear("layers.0.o", flat, 16, 24);
    CHECK(b.split().counts == std::vector<std::int64_t>{6, 24});
    CHECK(b.split().allows(2));
    CHECK_FALSE(b.split().allows(4));
  }

  TEST_CASE("a fused layer stays replicated if its features are split or a norm reads them") {
    for (const char* op : {"aten::split", "aten::layer_norm"}) {
      CAPTURE(op);
      BlockBuilder b;
      const TensorRecord fused = b.linear("layers.0.qkv", b.value({2, 8, 16}), 48, 16);
      const TensorRecord part = b.node(op, "layers.0", "Block", {fused}, {2, 8, 16});
      b.linear("layers.0.o", part, 16, 16);
      const TensorSplit split = b.split();
      for (const SplitLinear& linear : split.linears) CHECK(linear.module != "layers.0.qkv");
      // Its readers are replicated then, and a column layer not followed by a row layer is not
      // split.
      CHECK(split.linears.empty());
      CHECK_FALSE(split.allows(2));
    }
  }

  TEST_CASE("layers outside the blocks stay replicated") {
    BlockBuilder b;
    const TensorRecord x = b.value({2, 8, 16});
    const TensorRecord hidden = b.linear("head.0", x, 32, 16);
    b.linear("head.1", hidden, 16, 32);
    CHECK(b.split().linears.empty());
  }
}

}  // namespace symprof::test::tensor_split_test
