// The pass that gives attentions a key-value cache, on graphs written by hand.
#include "trace/passes/key_value_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/error.h"

namespace symprof::test {
namespace {

constexpr std::int64_t batch = 2, heads = 4, key_heads = 2, size = 8, past = 16;

/// An attention whose geometries are known without running it.
struct AttentionGraph {
  Graph graph;
  std::map<ValueId, TensorSpec> specs;

  ValueId value(std::vector<std::int64_t> sizes, DType dtype = DType::float32) {
    TensorSpec spec{.dtype = dtype, .sizes = std::move(sizes)};
    spec.strides.resize(spec.sizes.size());
    const ValueId id = graph.add_value(
        {.name = "v" + std::to_string(graph.values.size()), .kind = ValueKind::buffer});
    specs[id] = std::move(spec);
    return id;
  }

  ValueId node(std::string op, std::vector<Argument> arguments, std::vector<std::int64_t> sizes) {
    const ValueId made = value(std::move(sizes));
    graph.values[static_cast<std::size_t>(made)].kind = ValueKind::result;
    graph.nodes.push_back({.name = "n" + std::to_string(graph.nodes.size()),
                           .op = std::move(op),
                           .overload = "default",
                           .arguments = std::move(arguments),
                           .outputs = {made}});
    return made;
  }

  /// As transformers' repeat_kv is exported.
  ValueId repeated(ValueId keys, std::int64_t tokens) {
    constexpr std::int64_t copies = heads / key_heads;
    const ValueId apart =
        node("aten::unsqueeze", {{"self", ValueRef{keys}}}, {batch, key_heads, 1, tokens, size});
    const ValueId expanded =
        node("aten::expand", {{"self", ValueRef{apart}}}, {batch, key_heads, copies, tokens, size});
    return node("aten::reshape", {{"self", ValueRef{expanded}}}, {batch, heads, tokens, size});
  }

  void attention(ValueId query, ValueId key, ValueId value, std::vector<Argument> more = {}) {
    std::vector<Argument> arguments = {
        {"query", ValueRef{query}}, {"key", ValueRef{key}}, {"value", ValueRef{value}}};
    for (Argument& argument : more) arguments.push_back(std::move(argument));
    graph.outputs = {
        node("aten::scaled_dot_product_attention", std::move(arguments), specs.at(query).sizes)};
  }

  KeyValueCache add_cache(std::int64_t tokens = past) {
    trace::add_key_value_cache(graph, tokens, [&](ValueId id) {
      const auto found = specs.find(id);
      return found == specs.end() ? nullptr : &found->second;
    });
    return graph.kv_cache;
  }

  std::vector<std::string> ops() const {
    std::vector<std::string> found;
    for (const Node& node : graph.nodes) found.push_back(node.op);
    return found;
  }

  const Argument* argument(std::string_view name) const {
    const auto& arguments = graph.nodes.back().arguments;
    const auto found = std::ranges::find(arguments, name, &Argument::name);
    return found == arguments.end() ? nullptr : &*found;
  }
};

using Ops = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_SUITE("key_value_cache_pass") {
  TEST_CASE("one token: joined with those before, and no mask") {
    AttentionGraph one;
    const ValueId query = one.value({batch, heads, 1, size});
    const ValueId key = one.value({batch, heads, 1, size}),
                  value = one.value({batch, heads, 1, size});
    one.attention(query, key, value, {{"is_causal", true}});
    const KeyValueCache cache = one.add_cache();
    CHECK(one.ops() == Ops{"aten::cat", "aten::cat", "aten::scaled_dot_product_attention"});
    CHECK(cache.sequences == batch);
    CHECK(cache.added_tokens == 1);
    REQUIRE(cache.tensors.size() == 2);
    REQUIRE(one.graph.inputs.size() == 2);
    const Value& past_key = one.graph.values[static_cast<std::size_t>(one.graph.inputs[0])];
    CHECK(past_key.spec->sizes == Sizes{batch, heads, past, size});
    CHECK(past_key.spec->strides == Sizes{heads * past * size, past * size, size, 1});
    CHECK(std::get<bool>(one.argument("is_causal")->value) == false);
    CHECK(one.argument("attn_mask") == nullptr);
    CHECK(std::get<ValueRef>(one.argument("key")->value).id == cache.tensors[0].present);
    CHECK(std::get<ValueRef>(one.argument("value")->value).id == cache.tensors[1].present);
    CHECK(cache.tensors[0].step == key);
    CHECK(cache.tensors[0].step_until == cache.tensors[1].present);
    trace::verify(one.graph);
  }

  TEST_CASE("grouped queries: the cache has the heads of the keys, and all of it is repeated") {
    AttentionGraph grouped;
    constexpr std::int64_t tokens = 3;
    const ValueId query = grouped.value({batch, heads, tokens, size});
    const ValueId key = grouped.value({batch, key_heads, tokens, size});
    const ValueId value = grouped.value({batch, key_heads, tokens, size});
    const ValueId all_keys = grouped.repeated(key, tokens);
    grouped.attention(query, all_keys, grouped.repeated(value, tokens));
    const KeyValueCache cache = grouped.add_cache();
    CHECK(grouped.ops() == Ops{"aten::cat", "aten::cat", "aten::unsqueeze", "aten::expand",
                               "aten::flatten", "aten::unsqueeze", "aten::expand", "aten::flatten",
                               "aten::scaled_dot_product_attention"});
    for (const ValueId input : grouped.graph.inputs)
      CHECK(grouped.graph.values[static_cast<std::size_t>(input)].spec->sizes ==
            Sizes{batch, key_heads, past, size});
    CHECK(cache.tensors[0].step == key);
  }

  TEST_CASE("several causal tokens share one mask over all keys") {
    AttentionGraph several;
    constexpr std::int64_t tokens = 3;
    for (int layer = 0; layer < 2; ++layer) {
      const ValueId query = several.value({batch, heads, tokens, size});
      const ValueId key = several.value({batch, key_heads, tokens, size});
      several.attention(query, key, several.value({batch, key_heads, tokens, size}),
                        {{"is_causal", true}, {"enable_gqa", true}});
    }
    several.add_cache();
    const Ops ops = several.ops();
    CHECK(std::ranges::count(ops, "aten::tril") == 1);
    CHECK(ops[0] == "aten::ones");
    CHECK(std::get<bool>(several.argument("is_causal")->value) == false);
    CHECK(std::get<bool>(several.argument("enable_gqa")->value) == false);
    CHECK(std::ranges::count(ops, "aten::flatten") == 4);
    const Node& view = several.graph.nodes[2];
    CHECK(std::get<Sizes>(view.arguments.back().value) == Sizes{batch, 1, tokens, past + tokens});
  }

  TEST_CASE("a mask over the keys grows in front, once for all that use it") {
    AttentionGraph masked;
    constexpr std::int64_t tokens = 3;
    const ValueId mask = masked.value({batch, 1, tokens, tokens}, DType::boolean);
    for (int layer = 0; layer < 2; ++layer) {
      const ValueId query = masked.value({batch, heads, tokens, size});
      const ValueId key = masked.value({batch, heads, tokens, size});
      masked.attention(query, key, masked.value({batch, heads, tokens, size}),
                       {{"attn_mask", ValueRef{mask}}});
    }
    masked.add_cache();
    CHECK(std::ranges::count(masked.ops(), "aten::constant_pad_nd") == 1);
    const auto pad = std::ranges::find(masked.graph.nodes, "aten::constant_pad_nd", &Node::op);
    CHECK(std::get<Sizes>(pad->arguments[1].value) == Sizes{past, 0});
    CHECK(std::get<std::int64_t>(pad->arguments[2].value) == 1);
  }

  TEST_CASE("an attention over other tokens than its own gets no cache") {
    AttentionGraph crossed;
    const ValueId query = crossed.value({batch, heads, 1, size});
    const ValueId key = crossed.value({batch, heads, past, size});
    crossed.attention(query, key, crossed.value({batch, heads, past, size}));
    CHECK_THROWS_WITH_AS(crossed.add_cache(), doctest::Contains("of another number than queries"),
                         Error);
    AttentionGraph none_at_all;
    CHECK_THROWS_WITH_AS(none_at_all.add_cache(),
                         doctest::Contains("no attention takes a key-value cache"), Error);
  }
}

}  // namespace symprof::test
