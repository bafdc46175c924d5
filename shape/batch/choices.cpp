#include "shape/batch/choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "shape/batch/guesses.h"
#include "shape/batch/parts.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

class Chooser {
 public:
  Chooser(const Node& node, const Surroundings& surroundings, SizeList list)
      : node_(node),
        around_(surroundings),
        operand_(surroundings.extents(trace::operand(node, 0))),
        list_(std::move(list)) {}

  Choices run(const SizedOperator& sized) {
    repeats_ = sized.use == SizeUse::repeat || sized.use == SizeUse::interleave;
    std::vector<Choice> choices = choices_for(sized.use);
    if (choices.empty()) choices.push_back({list_.tried});
    return {std::move(list_), std::move(choices)};
  }

 private:
  std::vector<Choice> choices_for(SizeUse use) const {
    switch (use) {
      case SizeUse::view:
        return view();
      case SizeUse::expand:
        return expand();
      case SizeUse::repeat:
      case SizeUse::interleave:
        return guess_any(/*has_batch=*/operand_scales());
      case SizeUse::create:
        return guess_any(/*has_batch=*/false);
      case SizeUse::like_operand:
        return like_operand();
      default:
        return {};
    }
  }

  bool operand_scales() const { return operand_ != nullptr && any_scales(*operand_); }

  std::vector<Choice> view() const {
    const Numbers* result = node_.outputs.empty() ? nullptr : around_.file_sizes(node_.outputs[0]);
    if (!operand_scales() || result == nullptr || list_.empty()) return {};
    std::vector<Choice> choices;
    const std::vector<Extents> answers = views(*operand_, *result, around_.batches);
    const bool is_guess = answers.size() > 1 && !is_plain(answers, *result);
    for (const Extents& extents : answers) choices.push_back({sizes_of_view(extents), is_guess});
    if (!choices.empty()) return choices;
    throw Error("", fmt::format("[{}] cuts the batch, which lies across several sizes, into parts",
                                fmt::join(*result, ", ")));
  }

  /// True if only the first of `answers` gives a batch of 1 its own dimension. False for a view
  /// that changes no size: with another batch such a view has an effect.
  bool is_plain(const std::vector<Extents>& answers, const Numbers& result) const {
    const auto has_own = [](const Extents& extents) {
      return std::ranges::all_of(
          extents, [](const Extent& extent) { return !extent.scales() || extent.file == 1; });
    };
    Numbers before;
    for (const Extent& extent : *operand_) before.push_back(extent.file);
    return before != result && std::ranges::count_if(answers, has_own) == 1 &&
           has_own(answers.front());
  }

  /// -1 and 0 need no change. Sizes of unflatten are those of the unflattened dimensions only.
  Numbers sizes_of_view(const Extents& extents) const {
    Numbers sizes = list_.tried;
    const std::int64_t* dim = trace::argument_as<std::int64_t>(trace::find_argument(node_, "dim"));
    const auto rank = static_cast<std::int64_t>(operand_->size());
    const std::int64_t first = dim == nullptr ? 0 : *dim < 0 ? *dim + rank : *dim;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t place = i + static_cast<std::size_t>(first);
      if (place >= extents.size() || !list_.is_open(i) || list_.file[i] != extents[place].file)
        continue;
      sizes[i] = extents[place].tried;
    }
    return sizes;
  }

  /// Dimensions of the operand keep their sizes; dimensions of 1 and new dimensions may be the
  /// batch.
  std::vector<Choice> expand() const {
    if (operand_ == nullptr || list_.file.size() < operand_->size()) return {};
    const std::size_t added = list_.file.size() - operand_->size();
    SizeList list = list_;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < list.file.size(); ++i) {
      const Extent* from = i < added ? nullptr : &(*operand_)[i - added];
      if (from == nullptr || (from->file == 1 && !from->scales()))
        open.push_back(i);
      else if (list.is_open(i) && list.file[i] == from->file)
        list.tried[i] = from->tried;
    }
    return guesses(list, open, operand_scales() || none_first(list), around_.batches);
  }

  /// `has_batch`: the result contains the batch even if none of the numbers is a multiple of it.
  std::vector<Choice> guess_any(bool has_batch) const {
    std::vector<std::size_t> all(list_.slots.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return guesses(list_, all, has_batch || none_first(list_), around_.batches);
  }

  /// True if the most likely choice is that none of the sizes is the batch: one already is, or the
  /// batch is 1 and does not come first. Code that repeats a tensor once along a dimension leaves
  /// that dimension unchanged.
  bool none_first(const SizeList& list) const {
    if (list_.file != list_.tried) return true;
    const bool is_list = list.slots.size() > 1 && !repeats_;
    return around_.batches.file == 1 && !(is_list && list.is_open(0) && list.file[0] == 1);
  }

  std::vector<Choice> like_operand() const {
    if (!operand_scales()) return {};
    Choice choice{list_.tried};
    for (std::size_t i = 0; i < choice.sizes.size() && i < operand_->size(); ++i)
      if (list_.is_open(i) && list_.file[i] == (*operand_)[i].file)
        choice.sizes[i] = (*operand_)[i].tried;
    return {choice};
  }

  const Node& node_;
  const Surroundings& around_;
  const Extents* operand_;
  SizeList list_;
  bool repeats_ = false;
};

bool works_on_parts(SizeUse use) {
  return use == SizeUse::slice || use == SizeUse::select || use == SizeUse::split ||
         use == SizeUse::unbind || use == SizeUse::strides;
}

bool has_batch_of_its_own(const Node& node, const Batches& batches) {
  const SizedOperator* sized = find_sized(node);
  if (sized == nullptr || batches.file == 1) return false;
  if (sized->use != SizeUse::create && sized->use != SizeUse::expand &&
      sized->use != SizeUse::repeat)
    return false;
  const SizeList list = read_sizes(node, *sized, [](ValueId) { return std::nullopt; });
  return std::ranges::find(list.file, batches.file) != list.file.end();
}

}  // namespace

Choices choices_of(const Node& node, const SizedOperator& sized, const Surroundings& surroundings,
                   TakenSamples& taken) {
  SizeList list = read_sizes(node, sized, surroundings.numbers);
  if (works_on_parts(sized.use))
    return choices_of_parts(node, sized.use, surroundings, std::move(list), taken);
  return Chooser(node, surroundings, std::move(list)).run(sized);
}

void check_nested_sizes(const Graph& graph, const Batches& batches) {
  for (const Node& node : graph.nodes)
    for (const Argument& argument : node.arguments) {
      const auto* nested = std::get_if<std::shared_ptr<const Graph>>(&argument.value);
      if (nested == nullptr || *nested == nullptr) continue;
      check_nested_sizes(**nested, batches);
      for (const Node& inner : (*nested)->nodes)
        if (has_batch_of_its_own(inner, batches))
          throw Error(fmt::format("{}: node {} ({}), inside {}", graph.path, inner.name, inner.op,
                                  node.name),
                      fmt::format("has a size of {}, which may be the batch", batches.file));
    }
}

}  // namespace symprof::shape
