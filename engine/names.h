// Parses TensorRT's layer names into their parts: ONNX nodes, weights, and helpers of a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace symprof::engine {

/// One part of a layer's name.
struct NameTerm {
  enum class Kind : std::uint8_t {
    node,     ///< A node or an initializer of the model, under its own name.
    helper,   ///< Made by the parser or the optimizer for the node that `text` names.
    unnamed,  ///< "(Unnamed Layer* 12) [Shuffle]", "ONNXTRT_Broadcast_4": no node is named.
  };
  Kind kind = Kind::node;
  std::string text;
};

/// A `{ForeignNode[first...last]}`: a region's name has its first and last node.
struct RegionName {
  std::string first, last;
};

/// The number of a generated kernel: `_myl5_2` is kernel 2 of region 5, the layer index if each
/// region counts as one layer.
struct KernelNumber {
  int region = 0, kernel = 0;
};

/// The layer that a reformat or another helper layer belongs to: the `X` of
/// `Reformatting CopyNode for Input Tensor 0 to X`, and of TensorRT 7's `X input reformatter 0`.
struct ReformatName {
  bool is_input = true;
  int tensor = 0;
  std::string layer;
};

/// `name` without `_myl5_2`, and the parsed number.
std::pair<std::string_view, std::optional<KernelNumber>> split_kernel_number(std::string_view name);

std::optional<ReformatName> reformat_name(std::string_view name);
std::optional<RegionName> region_name(std::string_view name);

/// The parts of `A + B`, `A || B`, `PWN(A, B)` and nested ones, in order; those of a Myelin
/// kernel's `a+b+c_myl0_1`; none for a generated name (`__myl_AddCast_myl0_1`). Separators inside
/// brackets do not count.
std::vector<NameTerm> name_terms(std::string_view name);

/// "Conv" of "Conv_84" and "node_linear_1" of "node_linear_1_2": a name without the number that an
/// exporter or the parser counted up; empty for a name without one.
std::string_view without_number(std::string_view name);

/// A node's name as Myelin writes it: '.' is '_' there.
std::string myelin_spelling(std::string_view node);

}  // namespace symprof::engine
