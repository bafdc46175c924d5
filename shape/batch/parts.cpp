#include "shape/batch/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

/// A dimension of the operand.
struct CutDimension {
  std::size_t index = 0;
  const Extent* extent = nullptr;
};

[[noreturn]] void refuse(const std::string& what) { throw Error("", what); }

class PartChooser {
 public:
  PartChooser(const Node& node, const Surroundings& surroundings, SizeList list,
              TakenSamples& taken)
      : node_(node),
        around_(surroundings),
        operand_(trace::operand(node, 0)),
        extents_(surroundings.extents(operand_)),
        list_(std::move(list)),
        taken_(taken) {
    choice_.sizes = list_.tried;
  }

  Choices run(SizeUse use) {
    if (extents_ != nullptr && any_scales(*extents_)) choose(use);
    return {std::move(list_), {std::move(choice_)}};
  }

 private:
  void choose(SizeUse use) {
    if (use == SizeUse::strides) refuse("it takes positions in memory, which depend on the batch");
    if (use == SizeUse::slice && node_.op == "onnx::Slice") return slice_axes();
    const CutDimension cut = dimension(axis());
    if (cut.extent == nullptr || !cut.extent->scales()) return;
    if (use == SizeUse::unbind) refuse("it takes the samples of the batch one by one");
    if (use == SizeUse::select) return select(cut);
    if (use == SizeUse::split) return split(cut);
    if (list_.slots.size() == 2 && node_.op == "aten::narrow") return narrow(*cut.extent);
    slice(*cut.extent);
  }

  std::int64_t axis() const {
    for (const std::string_view name : {"dim", "axis"})
      if (const auto* given = trace::argument_as<std::int64_t>(trace::find_argument(node_, name)))
        return *given;
    return 0;
  }

  CutDimension dimension(std::int64_t axis) const {
    const auto rank = static_cast<std::int64_t>(extents_->size());
    const std::int64_t index = axis < 0 ? axis + rank : axis;
    if (index < 0 || index >= rank) return {};
    return {static_cast<std::size_t>(index), &(*extents_)[static_cast<std::size_t>(index)]};
  }

  /// The period, in elements, of the samples in a dimension; 0 if they have none.
  std::int64_t block(const Extent& extent) const {
    return extent.strides.size() == 1 ? extent.strides[0] * around_.batches.file : 0;
  }

  /// A bound as a position from the front; open and negative bounds are resolved.
  static std::int64_t place(std::int64_t bound, std::int64_t size) {
    return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
  }

  /// The bounds of a slice of one dimension.
  struct Bounds {
    std::int64_t start = 0, end = std::numeric_limits<std::int64_t>::max();
  };

  Bounds chosen(Bounds bounds, const Extent& extent) const {
    const std::int64_t start = place(bounds.start, extent.file),
                       end = place(bounds.end, extent.file), part = block(extent);
    const bool is_open = bounds.end > extent.file || bounds.end < 0;
    if (start == 0 && end == extent.file) {
      if (!is_open) bounds.end = extent.tried;
      return bounds;
    }
    if (part > 0 && start % part == 0 && end % part == 0 && end > start)
      return {start * around_.batches.factor,
              is_open && end == extent.file ? bounds.end : end * around_.batches.factor};
    // The first or last sample, or all but one; ambiguous (half of the batch) only for a batch of
    // 2.
    const bool is_one = (start == 0 && end == 1) || (start == 1 && end == extent.file && is_open) ||
                        (start == 0 && bounds.end == -1);
    if (is_one && around_.batches.file > 2) return bounds;
    refuse(fmt::format("elements {} to {} of a dimension of {} are a part of the batch", start, end,
                       extent.file));
  }

  /// The list holds the start, the end, or both; an omitted argument has no number.
  void slice(const Extent& extent) {
    Bounds bounds;
    std::int64_t* chosen_start = nullptr;
    std::int64_t* chosen_end = nullptr;
    for (std::size_t i = 0; i < list_.slots.size(); ++i) {
      if (!list_.is_open(i)) return;  // It depends on the batch already.
      const bool is_start = node_.arguments[list_.slots[i].argument].name == "start";
      (is_start ? chosen_start : chosen_end) = &choice_.sizes[i];
      (is_start ? bounds.start : bounds.end) = list_.file[i];
    }
    const Bounds result = chosen(bounds, extent);
    if (chosen_start != nullptr) *chosen_start = result.start;
    if (chosen_end != nullptr) *chosen_end = result.end;
  }

  void narrow(const Extent& extent) {
    if (!list_.is_open(0) || !list_.is_open(1)) return;
    const std::int64_t start = list_.file[0];
    const Bounds result = chosen({start, start + list_.file[1]}, extent);
    choice_.sizes = {result.start, result.end - result.start};
  }

  /// ONNX slices several axes at once: all starts, then all ends.
  void slice_axes() {
    const std::size_t count = list_.slots.size() / 2;
    std::vector<std::int64_t> axes(count);
    std::iota(axes.begin(), axes.end(), 0);
    const Argument* given = trace::find_argument(node_, "axes", 3);
    if (const auto both = around_.numbers(trace::value_of(given))) axes = both->file;
    if (const auto* numbers = trace::argument_as<Numbers>(given)) axes = *numbers;
    for (std::size_t i = 0; i < count && i < axes.size(); ++i) {
      const CutDimension cut = dimension(axes[i]);
      if (cut.extent == nullptr || !cut.extent->scales()) continue;
      if (!list_.is_open(i) || !list_.is_open(i + count)) continue;
      const Bounds result = chosen({list_.file[i], list_.file[i + count]}, *cut.extent);
      choice_.sizes[i] = result.start;
      choice_.sizes[i + count] = result.end;
    }
  }

  /// Selecting one sample is allowed; selecting several in turn is a loop over the batch.
  void select(const CutDimension& cut) {
    if (list_.slots.empty()) return;
    std::set<std::int64_t>& taken = taken_[operand_];
    for (const std::int64_t index : list_.file) taken.insert(place(index, cut.extent->file));
    if (taken.size() > 1 || around_.batches.file == 1)
      refuse("it takes the samples of the batch one by one");
  }

  void split(const CutDimension& cut) {
    const std::int64_t part = block(*cut.extent);
    const auto is_whole = [&](std::int64_t size) { return part > 0 && size % part == 0; };
    if (list_.slots.empty()) return;  // Equal parts, one per result.
    if (!std::ranges::all_of(list_.file, is_whole))
      refuse(fmt::format("parts of {} elements cut the batch", fmt::join(list_.file, ", ")));
    for (std::size_t i = 0; i < choice_.sizes.size(); ++i)
      if (list_.is_open(i)) choice_.sizes[i] *= around_.batches.factor;
  }

  const Node& node_;
  const Surroundings& around_;
  ValueId operand_;
  const Extents* extents_;
  SizeList list_;
  TakenSamples& taken_;
  Choice choice_;
};

}  // namespace

Choices choices_of_parts(const Node& node, SizeUse use, const Surroundings& surroundings,
                         SizeList list, TakenSamples& taken) {
  return PartChooser(node, surroundings, std::move(list), taken).run(use);
}

}  // namespace symprof::shape
