#include "shape/batch/extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace symprof::shape {
namespace {

constexpr std::size_t most_views = 8;

/// The strides, in elements, of a contiguous tensor of `sizes`.
Numbers dense_strides(const Numbers& sizes) {
  Numbers strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Numbers file_sizes(const Extents& extents) {
  Numbers sizes;
  for (const Extent& extent : extents) sizes.push_back(extent.file);
  return sizes;
}

/// The dimensions of a view that can contain the batch, for samples that are `apart` elements
/// apart.
class Places {
 public:
  Places(const Numbers& sizes, const Batches& batches)
      : sizes_(sizes), strides_(dense_strides(sizes)), batches_(batches) {}

  std::vector<std::size_t> find(std::int64_t apart) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (apart % strides_[i] == 0 && end(i) % (apart * batches_.file) == 0) found.push_back(i);
    std::ranges::stable_sort(found, {}, [&](std::size_t i) { return unlikeliness(i, apart); });
    return found;
  }

  std::int64_t stride(std::size_t i) const { return strides_[i]; }

 private:
  std::int64_t end(std::size_t i) const { return strides_[i] * sizes_[i]; }

  /// Rank of dimension `i`, 0 for the most likely: the batch is a whole dimension, else the
  /// outermost part of one, else the innermost part. The last dimension holds features rather than
  /// samples.
  int unlikeliness(std::size_t i, std::int64_t apart) const {
    const bool is_outermost = end(i) == apart * batches_.file, is_innermost = strides_[i] == apart;
    if (is_outermost && is_innermost) return 0;
    if (i > 0 && i + 1 == sizes_.size()) return 4;
    return is_outermost ? 1 : is_innermost ? 3 : 2;
  }

  const Numbers& sizes_;
  Numbers strides_;
  const Batches& batches_;
};

/// Extends each of `answers` by every dimension that can contain the batch.
std::vector<Extents> with_samples(const std::vector<Extents>& answers, const Places& places,
                                  std::int64_t apart, const Batches& batches) {
  std::vector<Extents> more;
  for (const Extents& answer : answers)
    for (const std::size_t place : places.find(apart)) {
      Extents next = answer;
      next[place].tried *= batches.factor;
      next[place].strides.push_back(apart / places.stride(place));
      more.push_back(std::move(next));
      if (more.size() == most_views) return more;
    }
  return more;
}

/// The extent of an operand with these sizes; an extent at the same position, counted from the last
/// dimension, comes first.
const Extent* extent_of_sizes(std::span<const Extents* const> operands, const Extent& wanted,
                              std::size_t from_last) {
  const auto fits = [&](const Extent& extent) {
    return extent.file == wanted.file && extent.tried == wanted.tried && !extent.strides.empty();
  };
  const Extent* found = nullptr;
  for (const Extents* operand : operands)
    for (std::size_t i = 0; i < operand->size(); ++i) {
      const Extent& extent = (*operand)[i];
      if (!fits(extent)) continue;
      if (operand->size() - i == from_last) return &extent;
      if (found == nullptr) found = &extent;
    }
  return found;
}

/// The batch-dependent extent at the same position of an operand of the same rank.
const Extent* extent_in_place(std::span<const Extents* const> operands, std::size_t rank,
                              std::size_t index, int power) {
  for (const Extents* operand : operands)
    if (operand->size() == rank &&
        (*operand)[index].strides.size() == static_cast<std::size_t>(power))
      return &(*operand)[index];
  return nullptr;
}

}  // namespace

std::optional<int> batch_power(std::int64_t file, std::int64_t tried, const Batches& batches) {
  if (file == tried) return 0;
  if (file == 0 || tried % file != 0) return std::nullopt;
  std::int64_t ratio = tried / file, divisor = 1;
  int power = 0;
  for (; ratio % batches.factor == 0; ratio /= batches.factor) {
    ++power;
    divisor *= batches.file;
  }
  if (ratio != 1 || file % divisor != 0) return std::nullopt;
  return power;
}

trace::BatchSize batch_size(std::int64_t file, std::int64_t tried, const Batches& batches) {
  if (const auto power = batch_power(file, tried, batches)) {
    trace::BatchSize size{.factor = file, .power = *power};
    for (int i = 0; i < *power; ++i) size.factor /= batches.file;
    if (*power == 0) return {.rest = file};
    return size;
  }
  const std::int64_t more = batches.tried() - batches.file;
  if ((tried - file) % more != 0)
    throw Error("", fmt::format("{} becomes {} where the batch becomes {}: this is no sum of it",
                                file, tried, batches.tried()));
  const std::int64_t factor = (tried - file) / more;
  return {.factor = factor, .power = 1, .rest = file - factor * batches.file};
}

std::vector<Extents> views(const Extents& from, const Numbers& to, const Batches& batches) {
  Extents plain;
  for (const std::int64_t size : to) plain.push_back({.file = size, .tried = size});
  std::vector<Extents> answers = {plain};
  if (std::ranges::find(to, 0) != to.end()) return answers;
  const Places places(to, batches);
  const Numbers strides = dense_strides(file_sizes(from));
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i].scales()) continue;
    for (const std::int64_t stride : from[i].strides)
      answers = with_samples(answers, places, stride * strides[i], batches);
    if (!from[i].strides.empty()) continue;
    // A size that is no multiple of the batch must be a dimension of the view, too.
    bool is_kept = false;
    for (std::size_t j = 0; j < to.size() && !is_kept; ++j) {
      if (to[j] != from[i].file || places.stride(j) != strides[i]) continue;
      for (Extents& answer : answers) answer[j].tried = from[i].tried;
      is_kept = true;
    }
    if (!is_kept) return {};
  }
  return answers;
}

Extent outermost_extent(std::int64_t file, std::int64_t tried, const Batches& batches) {
  Extent extent{.file = file, .tried = tried};
  std::int64_t stride = file;
  for (int i = 0; i < batch_power(file, tried, batches).value_or(0); ++i)
    extent.strides.push_back(stride /= batches.file);
  return extent;
}

Extents result_extents(const Numbers& file, const Numbers& tried,
                       std::span<const Extents* const> operands, const Batches& batches) {
  Extents result;
  for (std::size_t i = 0; i < file.size(); ++i) {
    result.push_back(outermost_extent(file[i], tried[i], batches));
    Extent& extent = result.back();
    if (extent.strides.empty() || extent.strides.back() == 0 ||
        (extent.strides.size() == 1 && extent.strides[0] == 1 && batches.file > 1))
      continue;
    const auto power = static_cast<int>(extent.strides.size());
    const Extent* known = extent_of_sizes(operands, extent, file.size() - i);
    if (known == nullptr) known = extent_in_place(operands, file.size(), i, power);
    if (known != nullptr) extent.strides = known->strides;
  }
  return result;
}

Numbers tried_sizes(const Extents& extents) {
  Numbers sizes;
  for (const Extent& extent : extents) sizes.push_back(extent.tried);
  return sizes;
}

bool any_scales(const Extents& extents) { return std::ranges::any_of(extents, &Extent::scales); }

}  // namespace symprof::shape
