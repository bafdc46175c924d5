#include "trace/passes/repeated_heads.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace symprof::trace {
namespace {

constexpr std::array<std::string_view, 13> repeating = {
    "aten::unsqueeze", "aten::expand",  "aten::clone",        "aten::contiguous", "aten::reshape",
    "aten::view",      "aten::flatten", "aten::_unsafe_view", "aten::repeat",     "aten::slice",
    "onnx::Expand",    "onnx::Reshape", "onnx::Unsqueeze"};

/// The copies of each of `own`'s heads in `all`; 0 where `all` is not made of them.
std::int64_t copies_in(const TensorSpec& own, const TensorSpec& all) {
  if (own.sizes.size() != attention_rank || own.sizes[0] != all.sizes[0] ||
      own.sizes[tokens_dimension] != all.sizes[tokens_dimension] ||
      own.sizes.back() != all.sizes.back())
    return 0;
  const std::int64_t heads = own.sizes[heads_dimension], all_heads = all.sizes[heads_dimension];
  return heads > 0 && heads < all_heads && all_heads % heads == 0 ? all_heads / heads : 0;
}

}  // namespace

HeadSource source_of_heads(const Graph& graph, const Uses& uses, ValueId value,
                           const SpecOf& spec_of) {
  const TensorSpec& all = *spec_of(value);
  HeadSource source{value};
  ValueId from = value;
  while (const auto maker = uses.maker(from)) {
    const Node& node = graph.nodes[*maker];
    if (std::ranges::find(repeating, node.op) == repeating.end()) break;
    from = operand(node, 0);
    const TensorSpec* own = from == no_value ? nullptr : spec_of(from);
    if (own == nullptr) break;
    source.nodes.push_back(*maker);
    if (const std::int64_t copies = copies_in(*own, all); copies > 0) {
      source.value = from;
      source.copies = copies;
      return source;
    }
  }
  return {value};
}

}  // namespace symprof::trace
