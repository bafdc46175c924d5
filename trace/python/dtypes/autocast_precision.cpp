#include "trace/python/dtypes/autocast_precision.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "trace/graph/region_markers.h"
#include "trace/graph/uses.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/python/dtypes/casts_back.h"

namespace symprof::trace {
namespace {

/// Operators that autocast runs in float32 (AT_FORALL_FP32 and AT_FORALL_FP32_SET_OPT_DTYPE in
/// ATen/autocast_mode.h), except losses and resizing, whose results are no activations.
constexpr std::array<std::string_view, 34> widening = {"acos",
                                                       "asin",
                                                       "cosh",
                                                       "erfinv",
                                                       "exp",
                                                       "expm1",
                                                       "log",
                                                       "log10",
                                                       "log2",
                                                       "log1p",
                                                       "reciprocal",
                                                       "rsqrt",
                                                       "sinh",
                                                       "tan",
                                                       "pow",
                                                       "softplus",
                                                       "layer_norm",
                                                       "native_layer_norm",
                                                       "rms_norm",
                                                       "group_norm",
                                                       "cosine_similarity",
                                                       "dist",
                                                       "pdist",
                                                       "cdist",
                                                       "renorm",
                                                       "logsumexp",
                                                       "prod",
                                                       "softmax",
                                                       "log_softmax",
                                                       "cumprod",
                                                       "cumsum",
                                                       "sum",
                                                       "linalg_vector_norm",
                                                       "linalg_matrix_norm"};

/// Tells if autocast is on inside the open regions.
class OpenRegions {
 public:
  bool is_on() const { return is_on_.back(); }
  void open_grad_mode(bool) { is_on_.push_back(is_on()); }
  void open_autocast(bool enabled, std::optional<DType>) { is_on_.push_back(enabled); }
  void close() {
    if (is_on_.size() > 1) is_on_.pop_back();
  }

 private:
  std::vector<bool> is_on_ = {true};
};

}  // namespace

AutocastPrecision::AutocastPrecision(const Graph& graph)
    : graph_(graph), is_lower_(graph.values.size()) {
  OpenRegions regions;
  for (const Node& node : graph.nodes) {
    obey_marker(node, regions);
    is_switched_off_.push_back(!regions.is_on());
  }
}

void AutocastPrecision::add(std::size_t index) {
  is_lower_.resize(graph_.values.size());
  const bool lower = makes_lower(index);
  for (const ValueId id : graph_.nodes[index].outputs)
    if (id != no_value) is_lower_[static_cast<std::size_t>(id)] = lower;
}

/// Numbers without dimensions do not promote a tensor; a constant or a parameter does.
bool AutocastPrecision::is_float(ValueId id) const {
  const Value& value = graph_.value(id);
  if (value.spec && value.spec->sizes.empty()) return false;
  const auto dtype = dtype_in_file(graph_, id);
  return dtype && is_floating_point(*dtype);
}

bool AutocastPrecision::makes_lower(std::size_t index) const {
  const Node& node = graph_.nodes[index];
  const std::string_view name = std::string_view(node.op).substr(node.op.rfind(':') + 1);
  if (!is_switched_off_[index]) {
    if (is_lowered_by_autocast(node)) return true;
    if (std::ranges::find(widening, name) != widening.end()) return false;
  }
  if (name == "type_as") return is_lower(operand(node, 1));
  if (name.ends_with("batch_norm")) return is_lower(operand(node, 0));  // Its weight is float32.
  const auto* named = argument_as<DType>(find_argument(node, "dtype"));
  if (named != nullptr && is_recorded_cast(node) && !is_move(node)) return false;
  if (named != nullptr && makes_new_tensor(node))
    return is_floating_point(*named) && element_bits(*named) < element_bits(DType::float32);
  bool has_lower = false, has_full = false;
  for_each_value(node, [&](ValueId id) {
    if (id == no_value) return;
    if (is_lower(id))
      has_lower = true;
    else
      has_full |= is_float(id);
  });
  return has_lower && !has_full;
}

namespace {

class OriginFinder {
 public:
  OriginFinder(const Graph& graph, const Uses& uses, const AutocastPrecision& precision,
               const std::function<bool(std::size_t)>& is_inside)
      : graph_(graph), uses_(uses), precision_(precision), is_inside_(is_inside) {}

  ValueId find(ValueId id) {
    if (id == no_value || !met_.insert(id).second) return no_value;
    const auto maker = uses_.maker(id);
    if (!maker || !is_inside_(*maker)) return precision_.is_lower(id) ? id : no_value;
    ValueId found = no_value;
    for_each_value(graph_.nodes[*maker], [&](ValueId operand) {
      if (found == no_value) found = find(operand);
    });
    return found;
  }

 private:
  const Graph& graph_;
  const Uses& uses_;
  const AutocastPrecision& precision_;
  const std::function<bool(std::size_t)>& is_inside_;
  std::unordered_set<ValueId> met_;
};

}  // namespace

ValueId lower_origin(const Graph& graph, const Uses& uses, const AutocastPrecision& precision,
                     ValueId id, const std::function<bool(std::size_t)>& is_inside) {
  if (id == no_value || precision.is_lower(id)) return no_value;
  const auto maker = uses.maker(id);
  if (!maker || !is_inside(*maker)) return no_value;  // It was given as it is.
  return OriginFinder(graph, uses, precision, is_inside).find(id);
}

}  // namespace symprof::trace
