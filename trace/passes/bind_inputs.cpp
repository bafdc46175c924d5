#include "trace/passes/bind_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "trace/graph/expression.h"
#include "trace/graph/named_sizes.h"
#include "trace/graph/symbol_table.h"
#include "trace/passes/dimension_names.h"
#include "trace/passes/input_values.h"
#include "trace/passes/other_batch.h"
#include "trace/passes/recorded_sizes.h"

namespace symprof::trace {
namespace {

using Bindings = std::vector<std::pair<std::string, std::int64_t>>;

/// The most bytes of one input; above it, products of sizes would overflow.
constexpr std::int64_t most_bytes = std::int64_t{1} << 50;

/// Strides for new sizes that keep the order in which the example's dimensions lay in memory
/// (channels last); expanded examples become contiguous.
std::vector<std::int64_t> restride(const TensorSpec& example,
                                   const std::vector<std::int64_t>& sizes) {
  const bool is_expanded =
      std::find(example.strides.begin(), example.strides.end(), 0) != example.strides.end();
  if (is_expanded || example.strides.size() != sizes.size()) return contiguous_strides(sizes);
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return example.strides[a] > example.strides[b];
  });
  std::vector<std::int64_t> ordered, strides(sizes.size());
  for (std::size_t i : order) ordered.push_back(sizes[i]);
  const auto dense = contiguous_strides(ordered);
  for (std::size_t i = 0; i < order.size(); ++i) strides[order[i]] = dense[i];
  return strides;
}

class InputBinder {
 public:
  explicit InputBinder(Graph& graph) : graph_(graph) {}

  void run(const std::vector<InputOverride>& overrides, const Bindings& bindings) {
    const std::set<std::string> file_names = dimension_names(graph_);
    for (const InputOverride& override : overrides) apply(override);
    for (const auto& [name, size] : bindings) apply(name, size, file_names);
    for (ValueId id : graph_.inputs) take_example(value(id));
    for (ValueId id : graph_.inputs) fix(value(id));
    for (const auto& [input, values] : values_)
      value(input).constant =
          data_of(values, value(input).spec.value(), SettingRef{"inputs", value(input).name});
    fix_sizes_of_results();
    fix_recorded_sizes(graph_, symbols_, resized_);
    check_ranges();
    if (changed_) forget_results();
  }

 private:
  Value& value(ValueId id) { return graph_.values[static_cast<std::size_t>(id)]; }

  std::vector<std::string> input_names() {
    std::vector<std::string> names;
    for (ValueId id : graph_.inputs) names.push_back(value(id).name);
    return names;
  }

  /// Visits the unbacked sizes of results.
  void for_each_unbacked_size(const auto& visit) {
    for (Value& result : graph_.values)
      if (result.kind == ValueKind::result)
        for (Dimension& dimension : result.dimensions)
          if (is_symbol(dimension.symbol)) visit(dimension);
  }

  /// Fixes the sizes that bindings give. An upper bound that the file has for a count in its
  /// example's shape need not hold in another shape.
  void fix_sizes_of_results() {
    for_each_unbacked_size([&](Dimension& dimension) {
      if (const auto size = symbols_.find(dimension.symbol)) dimension.size = *size;
    });
    if (!resized_) return;
    std::set<std::string> counted;
    for_each_unbacked_size([&](const Dimension& d) { counted.insert(d.symbol); });
    for (const Node& node : graph_.nodes)
      if (node.op == "aten::item" && !node.outputs.empty() && node.outputs[0] != no_value)
        for (const Dimension& d : value(node.outputs[0]).dimensions) counted.erase(d.symbol);
    for (SymbolRange& range : graph_.symbol_ranges)
      if (counted.contains(range.symbol) && !symbols_.find(range.symbol)) range.most.reset();
  }

  void apply(const InputOverride& override) {
    const SettingRef where{"inputs", override.name};
    const auto found = std::find_if(graph_.inputs.begin(), graph_.inputs.end(),
                                    [&](ValueId id) { return value(id).name == override.name; });
    if (found == graph_.inputs.end()) unknown_input(where, override.name);
    Value& input = value(*found);
    if (input.scalar)
      throw Error(where, "this input is a number, not a tensor",
                  fmt::format("Give it with {}.", setting("sizes", override.name + ".0=8")));
    if (!input.spec && !override.dtype)
      throw Error(where, "the file does not say which dtype this input has",
                  fmt::format("Give it: {}.", setting("inputs", override.name + "=float32[…]")));
    const bool has_rank = input.spec || !input.dimensions.empty();
    if (has_rank && input.dimensions.size() != override.dimensions.size())
      throw Error(where,
                  fmt::format("has {} dimensions; the file's input has {}",
                              override.dimensions.size(), input.dimensions.size()),
                  "Give as many sizes as the model's input has dimensions.");
    if (!input.spec) input.spec = TensorSpec{};
    if (override.dtype) {
      changed_ |= *override.dtype != input.spec->dtype;
      input.spec->dtype = *override.dtype;
    }
    if (override.values) values_.insert_or_assign(*found, *override.values);
    input.dimensions.resize(override.dimensions.size());
    for (std::size_t i = 0; i < input.dimensions.size(); ++i)
      replace(input.dimensions[i], override.dimensions[i], where);
  }

  [[noreturn]] void unknown_input(const SettingRef& where, const std::string& name) {
    const std::string hint = did_you_mean(name, input_names());
    throw Error(
        where, fmt::format("the model has no input '{}'", name),
        hint.empty() ? fmt::format("Its inputs: {}.", fmt::join(input_names(), ", ")) : hint);
  }

  /// A size fixes the file's symbol for all inputs that have it; a symbol takes its place.
  void replace(Dimension& dimension, const Dimension& wanted, const SettingRef& where) {
    if (wanted.symbol.empty()) {
      resized_ |= dimension.symbol.empty() && dimension.size != wanted.size;
      if (!dimension.symbol.empty()) symbols_.constrain(dimension.symbol, wanted.size, where);
      dimension = wanted;
    } else if (is_symbol(dimension.symbol)) {
      rename(std::string(dimension.symbol), wanted.symbol);
    } else {
      dimension.symbol = wanted.symbol;
    }
  }

  void rename(const std::string& from, const std::string& to) {
    for (ValueId id : graph_.inputs)
      for (Dimension& dimension : value(id).dimensions)
        dimension.symbol = rename_symbol(dimension.symbol, from, to);
    for (SymbolRange& range : graph_.symbol_ranges)
      range.symbol = rename_symbol(range.symbol, from, to);
  }

  void apply(const std::string& given, std::int64_t size, const std::set<std::string>& file_names) {
    const SettingRef where{"sizes", fmt::format("{}={}", given, size)};
    const std::string name = resolved_name(graph_, given);
    const std::set<std::string> names = dimension_names(graph_);
    if (names.contains(name)) {
      if (Dimension* dimension = dimension_at(name)) {
        if (!dimension->symbol.empty()) symbols_.constrain(dimension->symbol, size, where);
        *dimension = {size, dimension->symbol};
      } else {
        symbols_.constrain(name, size, where);
      }
      explicit_.insert(name);
      return;
    }
    if (file_names.contains(name))
      throw Error(where, fmt::format("{} has replaced the symbol '{}'", setting("inputs"), name),
                  "Give the size in one of the two.");
    const std::string hint = did_you_mean(name, {names.begin(), names.end()});
    throw Error(where, fmt::format("no input has a dimension called '{}'", name),
                (hint.empty() ? "" : hint + " ") + known_dimensions(graph_) +
                    (names.empty() && name == "batch" ? " " + open_batch_advice(graph_) : ""));
  }

  /// The dimension that "<input>.<index>" means; null for a symbol.
  Dimension* dimension_at(const std::string& name) {
    for (ValueId id : graph_.inputs)
      for (std::size_t i = 0; i < value(id).dimensions.size(); ++i)
        if (fmt::format("{}.{}", value(id).name, i) == name) return &value(id).dimensions[i];
    return nullptr;
  }

  void take_example(const Value& input) {
    for (const Dimension& dimension : input.dimensions)
      if (dimension.size >= 0 && is_symbol(dimension.symbol) && !symbols_.find(dimension.symbol))
        symbols_.constrain(dimension.symbol, dimension.size, input.name);
  }

  void fix(Value& input) {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < input.dimensions.size(); ++i) sizes.push_back(size_of(input, i));
    if (!input.spec) {
      if (sizes.size() == 1)
        input.scalar = sizes[0];
      else
        unfixed(input, "its shape");
      return;
    }
    check_bytes(input, sizes);
    if (sizes == input.spec->sizes) return;
    changed_ = true;
    input.spec->strides = restride(*input.spec, sizes);
    input.spec->sizes = std::move(sizes);
    input.spec->storage_offset = 0;
  }

  std::int64_t size_of(const Value& input, std::size_t index) {
    const Dimension& dimension = input.dimensions[index];
    if (dimension.symbol.empty()) {
      if (dimension.size >= 0) return dimension.size;
      unfixed(input, fmt::format("dimension {}", index));
    }
    const auto size = symbols_.evaluate(dimension.symbol);
    if (size && *size < 0)
      throw Error(fmt::format("input {}", input.name),
                  fmt::format("dimension {} ({}) becomes {}", index, dimension.symbol, *size),
                  fmt::format("Give larger sizes with {}.", setting("sizes")));
    if (size) return *size;
    // An expression that nothing here can evaluate keeps the example's size unless a user changed
    // one of its symbols.
    const auto parts = symbols(dimension.symbol);
    const bool touched = std::any_of(parts.begin(), parts.end(), [&](const std::string& symbol) {
      return explicit_.contains(symbol);
    });
    if (dimension.size >= 0 && !touched) return dimension.size;
    unfixed(input, fmt::format("dimension {} ({})", index, dimension.symbol));
  }

  [[noreturn]] void unfixed(const Value& input, const std::string& what) {
    const DType dtype = input.spec ? input.spec->dtype : DType::float32;
    const std::string given =
        setting("inputs", fmt::format("{}={}[…]", input.name, symprof::name(dtype)));
    std::vector<std::string> sizes;
    bool any_unnamed = false;
    for (const std::string& name : open_dimensions(graph_)) {
      any_unnamed |= dimension_at(name) != nullptr;
      if (!symbols_.find(name)) sizes.push_back(setting("sizes", name + "=8"));
    }
    const std::string naming = any_unnamed ? naming_example(graph_) : "";
    throw Error(
        fmt::format("input {}", input.name), fmt::format("nothing fixes {}", what),
        fmt::format("Give it with {}{}{}.",
                    sizes.empty() ? "" : fmt::format("{}, or with ", fmt::join(sizes, " ")), given,
                    naming.empty() ? "" : ", or name them with " + setting("inputs", naming)));
  }

  static void check_bytes(const Value& input, const std::vector<std::int64_t>& sizes) {
    std::int64_t bytes = element_bytes(input.spec->dtype);
    for (std::int64_t size : sizes)
      if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes) ||
          bytes > most_bytes)
        throw Error(fmt::format("input {}", input.name),
                    fmt::format("[{}] is more than 2^50 bytes", fmt::join(sizes, ", ")),
                    "Give smaller sizes.");
  }

  void check_ranges() {
    for (const SymbolRange& range : graph_.symbol_ranges) {
      const auto size = symbols_.evaluate(range.symbol);
      if (!size || (*size >= range.least && (!range.most || *size <= *range.most))) continue;
      graph_.warnings.push_back(fmt::format("{} is {}; the graph was exported for {} to {}.",
                                            range.symbol, *size, range.least,
                                            range.most ? std::to_string(*range.most) : "any size"));
    }
  }

  /// The file's shapes of results hold for its example only.
  void forget_results() {
    for (Value& result : graph_.values)
      if (result.kind == ValueKind::result) result.spec.reset();
  }

  Graph& graph_;
  SymbolTable symbols_;
  std::map<ValueId, InputValues> values_;
  std::set<std::string> explicit_;
  bool changed_ = false;
  bool resized_ = false;  // A size that the file fixes has another one.
};

}  // namespace

bool has_values(const Graph& graph) {
  return graph.follows_values || std::ranges::any_of(graph.inputs, [&](ValueId id) {
           return graph.value(id).constant != nullptr;
         });
}

void bind_inputs(Graph& graph, const std::vector<InputOverride>& overrides,
                 const Bindings& bindings) {
  InputBinder(graph).run(overrides, bindings);
}

}  // namespace symprof::trace
