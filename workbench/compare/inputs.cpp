#include "workbench/compare/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "trace/graph/uses.h"
#include "workbench/constants.h"
#include "workbench/leaf_drawer.h"
#include "workbench/random.h"

namespace symprof::workbench {
namespace {

std::vector<ValueId> inputs_of(const Side& side) {
  std::vector<ValueId> inputs;
  for (const ValueId id : side.graph.inputs)
    if (side.graph.value(id).kind == ValueKind::input &&
        !side.leaves.contains(side.graph.value(id).name))
      inputs.push_back(id);
  return inputs;
}

bool is_fixed(const Value& input) {
  return input.spec && std::ranges::all_of(input.dimensions, [](const Dimension& dimension) {
           return dimension.symbol.empty() && dimension.size >= 0;
         });
}

bool have_one_type(const Value& a, const Value& b) {
  if (!a.spec || !b.spec || a.spec->dtype != b.spec->dtype ||
      a.spec->sizes.size() != b.spec->sizes.size())
    return false;
  for (std::size_t i = 0; i < a.spec->sizes.size(); ++i) {
    const bool is_open = a.spec->sizes[i] < 0 || b.spec->sizes[i] < 0 ||
                         (!a.dimensions.empty() && !a.dimensions[i].symbol.empty()) ||
                         (!b.dimensions.empty() && !b.dimensions[i].symbol.empty());
    if (!is_open && a.spec->sizes[i] != b.spec->sizes[i]) return false;
  }
  return true;
}

/// Ones except in the last third of the last sequence; zeros for floats, which are added to scores.
ConstantPointer mask_like(const ConstantTensor& drawn) {
  const auto count = static_cast<std::size_t>(drawn.spec.numel());
  if (is_floating_point(drawn.spec.dtype))
    return make_constant(drawn.spec.dtype, drawn.spec.sizes, std::vector<double>(count, 0));
  std::vector<std::int64_t> numbers(count, 1);
  const std::size_t tokens =
      drawn.spec.sizes.empty() ? 0 : static_cast<std::size_t>(drawn.spec.sizes.back());
  if (drawn.spec.sizes.size() == 2 && drawn.spec.sizes.front() > 1)
    std::fill(numbers.end() - static_cast<std::ptrdiff_t>(tokens / 3), numbers.end(), 0);
  return make_integers(drawn.spec.sizes, numbers, drawn.spec.dtype);
}

/// Random values that keep a deep model's activations in range: matrices of unit gain, scales near
/// 1.
ConstantPointer random_weight(const Value& weight, std::uint64_t seed) {
  Random random(seed ^ hash_of(weight.name));
  const TensorSpec& spec = *weight.spec;
  if (!is_floating_point(spec.dtype))
    return make_integers(spec.sizes,
                         std::vector<std::int64_t>(static_cast<std::size_t>(spec.numel()), 0),
                         spec.dtype);
  const bool is_variance = weight.name.ends_with("running_var");
  const bool is_scale = weight.name.ends_with("weight") && spec.sizes.size() == 1;
  const double rows =
      spec.sizes.empty() ? 1 : static_cast<double>(std::max<std::int64_t>(1, spec.sizes[0]));
  const double width = static_cast<double>(spec.numel()) / rows;
  const double deviation = spec.sizes.size() > 1 ? 1 / std::sqrt(std::max(1.0, width)) : 0.1;
  std::vector<double> numbers(static_cast<std::size_t>(spec.numel()));
  for (double& number : numbers) {
    number = deviation * random.normal();
    if (is_variance) number = 1 + std::fabs(number);
    if (is_scale) number += 1;
  }
  return make_constant(spec.dtype, spec.sizes, numbers);
}

std::string parameter_of(const Side& side, const std::string& weight) {
  const auto named = side.parameters.find(weight);
  return named == side.parameters.end() ? weight : named->second;
}

ConstantPointer transposed(const ConstantTensor& matrix) {
  auto out = std::make_shared<ConstantTensor>();
  const std::int64_t rows = matrix.spec.sizes[0], columns = matrix.spec.sizes[1];
  out->spec = matrix.spec;
  out->spec.sizes = {columns, rows};
  out->spec.strides = contiguous_strides(out->spec.sizes);
  out->data.resize(matrix.data.size());
  const std::int64_t width = element_bytes(matrix.spec.dtype);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      std::copy_n(matrix.data.begin() + (i * columns + j) * width, width,
                  out->data.begin() + (j * rows + i) * width);
  return out;
}

/// The weight of that name in the shape of `spec`; null: none. One that an exporter has `folded` is
/// transposed unless its shape contradicts that.
ConstantPointer weight_of(const Side& side, const std::string& name, const TensorSpec& spec,
                          bool is_folded) {
  const auto found = side.leaves.find(name);
  if (found == side.leaves.end() || found->second->spec.dtype != spec.dtype) return nullptr;
  const std::vector<std::int64_t>& sizes = found->second->spec.sizes;
  if (is_folded && sizes.size() == 2 && spec.sizes == std::vector{sizes[1], sizes[0]})
    return transposed(*found->second);
  return sizes == spec.sizes ? found->second : nullptr;
}

class InputGiver {
 public:
  InputGiver(Side& a, Side& b, const InputBounds& bounds, const SharedInputs& options)
      : a_(a),
        b_(b),
        bounds_(bounds),
        options_(options),
        drawer_(a.path, options.sizes, options.seed) {}

  void run() {
    check_names();
    const std::vector<ValueId> of_a = inputs_of(a_), of_b = inputs_of(b_);
    const std::vector<ValueId> partner = partners(of_a, of_b);
    for (std::size_t i = 0; i < of_b.size(); ++i)
      if (partner[i] != no_value && is_fixed(b_.graph.value(of_b[i])))
        drawer_.constrain(a_.graph.value(partner[i]), b_.graph.value(of_b[i]).spec->sizes);
    for (const ValueId id : of_a)
      a_.leaves[a_.graph.value(id).name] =
          value_of(a_.graph.value(id), bounds_.a[static_cast<std::size_t>(id)]);
    // The side with the parameters' names gives the other its weights.
    Side &first = a_.parameters.empty() ? a_ : b_, &second = a_.parameters.empty() ? b_ : a_;
    share_weights(first, second);
    share_weights(second, first);
    if (options_.random_weights) draw_weights(second, first);
    for (std::size_t i = 0; i < of_b.size(); ++i) give_b(of_b[i], partner[i]);
  }

 private:
  void check_names() const {
    const auto has = [](const Side& side, const std::string& name) {
      return std::ranges::any_of(side.graph.inputs,
                                 [&](ValueId id) { return side.graph.value(id).name == name; });
    };
    for (const auto& [name, value] : options_.given)
      if (!has(a_, name) && !has(b_, name))
        throw Error(a_.path, fmt::format("neither model has an input '{}'", name),
                    fmt::format("Inputs of {}: {}.", a_.path, names(a_)));
  }

  static std::string names(const Side& side) {
    std::vector<std::string> texts;
    for (const ValueId id : side.graph.inputs) texts.push_back(side.graph.value(id).name);
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// By input of B: the input of A whose values it gets.
  std::vector<ValueId> partners(const std::vector<ValueId>& of_a,
                                const std::vector<ValueId>& of_b) const {
    std::vector<ValueId> found(of_b.size(), no_value);
    std::set<ValueId> taken;
    const auto pair_where = [&](const auto& fits) {
      for (std::size_t i = 0; i < of_b.size(); ++i) {
        if (found[i] != no_value) continue;
        for (const ValueId id : of_a)
          if (!taken.contains(id) && fits(a_.graph.value(id), b_.graph.value(of_b[i]))) {
            found[i] = id;
            taken.insert(id);
            break;
          }
      }
    };
    pair_where([](const Value& a, const Value& b) { return a.name == b.name; });
    pair_where(have_one_type);
    return found;
  }

  ConstantPointer value_of(const Value& input, std::int64_t bound) {
    if (const auto given = options_.given.find(input.name); given != options_.given.end())
      return as_type(given->second, input);
    ConstantPointer drawn = drawer_.draw(input, bound);
    return input.name.find("mask") == std::string::npos ? drawn : mask_like(*drawn);
  }

  void give_b(ValueId id, ValueId partner) {
    const Value& input = b_.graph.value(id);
    ConstantPointer& value = b_.leaves[input.name];
    if (value || options_.given.contains(input.name)) {
      if (!value) value = as_type(options_.given.at(input.name), input);
      return;
    }
    if (partner != no_value) {
      value = a_.leaves.at(a_.graph.value(partner).name);
      value = as_type(value, input);
      return;
    }
    value = weight_like(input);
    if (!value) value = value_of(input, bounds_.b[static_cast<std::size_t>(id)]);
  }

  /// `value` converted to the dtype of the input.
  static ConstantPointer as_type(const ConstantPointer& value, const Value& input) {
    if (!input.spec || input.spec->dtype == value->spec.dtype) return value;
    const DType dtype = input.spec->dtype;
    ConstantPointer made = is_floating_point(dtype)
                               ? make_constant(dtype, value->spec.sizes, reals_of(*value))
                               : make_integers(value->spec.sizes, integers_of(*value), dtype);
    const bool is_whole = made && made->data.size() == static_cast<std::size_t>(made->spec.bytes());
    return is_whole ? made : value;
  }

  /// A weight of A that matches an input of B.
  ConstantPointer weight_like(const Value& input) {
    for (const Value& weight : a_.graph.values) {
      const bool is_weight = weight.kind != ValueKind::input && weight.kind != ValueKind::result;
      const auto leaf = a_.leaves.find(weight.name);
      if (is_weight && leaf != a_.leaves.end() && have_one_type(weight, input) &&
          weight.spec->numel() > 1 && given_weights_.insert(weight.name).second)
        return leaf->second;
    }
    return nullptr;
  }

  /// Replaces the floating-point weights that both sides have by random ones.
  void draw_weights(Side& side, Side& other) const {
    std::map<std::string, const Value*> named;
    for (const Value& value : other.graph.values)
      if (value.kind != ValueKind::input && value.kind != ValueKind::result && value.spec)
        named[value.name] = &value;
    for (const Value& value : side.graph.values) {
      const auto own = side.leaves.find(value.name);
      const std::string parameter = parameter_of(side, value.name);
      const auto theirs = named.find(parameter);
      if (value.kind == ValueKind::input || value.kind == ValueKind::result || !value.spec ||
          own == side.leaves.end() || theirs == named.end() ||
          !is_floating_point(value.spec->dtype) || value.spec->numel() < 2)
        continue;
      if (ConstantPointer drawn = random_weight(*theirs->second, options_.seed))
        other.leaves[parameter] = std::move(drawn);
      if (auto made = weight_of(other, parameter, *value.spec, parameter != value.name))
        own->second = std::move(made);
    }
  }

  /// Gives `side` the weights that its file lacks: those of the other side, or random ones.
  void share_weights(Side& side, const Side& other) {
    const trace::Uses uses(side.graph);
    for (std::size_t i = 0; i < side.graph.values.size(); ++i) {
      const Value& value = side.graph.values[i];
      const bool is_weight = value.kind != ValueKind::input && value.kind != ValueKind::result;
      const auto id = static_cast<ValueId>(i);
      const bool is_read = !uses.readers(id).empty() || uses.is_output(id);
      const bool is_there = value.constant || side.leaves.contains(value.name);
      if (!is_weight || !value.spec || !is_read || is_there) continue;
      const std::string parameter = parameter_of(side, value.name);
      ConstantPointer made = weight_of(other, parameter, *value.spec, parameter != value.name);
      if (!made) made = random_weight(value, options_.seed);
      if (made) side.leaves[value.name] = std::move(made);
    }
  }

  Side &a_, &b_;
  const InputBounds& bounds_;
  const SharedInputs& options_;
  LeafDrawer drawer_;
  std::set<std::string> given_weights_;
};

}  // namespace

void give_inputs(Side& a, Side& b, const InputBounds& bounds, const SharedInputs& options) {
  InputGiver(a, b, bounds, options).run();
}

std::string inputs_text(const Side& side) {
  std::vector<std::string> texts;
  for (const ValueId id : side.graph.inputs) {
    const Value& input = side.graph.value(id);
    const auto leaf = side.leaves.find(input.name);
    if (input.kind == ValueKind::input && leaf != side.leaves.end())
      texts.push_back(fmt::format("{} {}", input.name, to_string(leaf->second->spec)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace symprof::workbench
