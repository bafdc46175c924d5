// The names that TensorRT gives layers, as a list of what they are made of: ONNX nodes, weights,
// and helpers that belong to a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace symprof::engine {

/// One piece of a layer's name.
struct NameTerm {
  enum class Kind : std::uint8_t {
    node,     ///< A node or an initializer of the model, under its own name.
    helper,   ///< Made by the parser or the optimizer for the node that `text` names.
    unnamed,  ///< "(Unnamed Layer* 12) [Shuffle]", "ONNXTRT_Broadcast_4": no node is named.
  };
  Kind kind = Kind::node;
  std::string text;
};

/// A `{ForeignNode[first...last]}`: of the nodes of a region, its name gives two.
struct RegionName {
  std::string first, last;
};

/// The place of a generated kernel: `_myl5_2` is kernel 2 of region 5, which is that layer of the
/// engine when each region counts as one.
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

/// `name` without `_myl5_2`, and what that says.
std::pair<std::string_view, std::optional<KernelNumber>> split_kernel_number(std::string_view name);

std::optional<ReformatName> reformat_name(std::string_view name);
std::optional<RegionName> region_name(std::string_view name);

/// The pieces of `A + B`, `A || B`, `PWN(A, B)` and of what these hold, in order; those of a
/// Myelin kernel's `a+b+c_myl0_1`; none for a generated name (`__myl_AddCast_myl0_1`). A separator
/// counts only outside brackets that it stands in.
std::vector<NameTerm> name_terms(std::string_view name);

/// Whether the layer is a Q or DQ of the model that no other layer took in, and that a kernel runs
/// for: its origin says so, or its name alone.
bool is_lone_quantizer(const Layer& layer);

/// "Conv" of "Conv_84" and "node_linear_1" of "node_linear_1_2": a name without the number that an
/// exporter or the parser counted up; empty for a name without one.
std::string_view without_number(std::string_view name);

/// A node's name as Myelin writes it: '.' is '_' there.
std::string myelin_spelling(std::string_view node);

}  // namespace symprof::engine
