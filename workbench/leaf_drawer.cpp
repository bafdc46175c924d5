#include "workbench/leaf_drawer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workbench/constants.h"
#include "workbench/random.h"

namespace symprof::workbench {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 30;

/// Null for a dtype without random values.
ConstantPointer random_values(DType dtype, std::vector<std::int64_t> sizes, std::size_t count,
                              std::int64_t bound, std::uint64_t seed) {
  Random random(seed);
  if (is_floating_point(dtype)) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = random.normal();
    return make_constant(dtype, std::move(sizes), numbers);
  }
  if (dtype == DType::complex64 || dtype == DType::complex128) {
    const bool is_double = dtype == DType::complex128;
    const auto parts =
        random_values(is_double ? DType::float64 : DType::float32,
                      {static_cast<std::int64_t>(2 * count)}, 2 * count, bound, seed);
    auto made = std::make_shared<ConstantTensor>(*parts);
    made->spec = {.dtype = dtype, .sizes = sizes, .strides = contiguous_strides(sizes)};
    return made;
  }
  std::vector<std::int64_t> numbers(count);
  for (std::int64_t& number : numbers) number = random.whole(dtype == DType::boolean ? 2 : bound);
  if (dtype != DType::uint64) return make_integers(std::move(sizes), numbers, dtype);
  auto made = std::make_shared<ConstantTensor>(*make_integers(std::move(sizes), numbers));
  made->spec.dtype = dtype;  // Non-negative integers have the same bytes in both.
  return made;
}

}  // namespace

LeafDrawer::LeafDrawer(std::string path, const std::map<std::string, std::int64_t>& sizes,
                       std::uint64_t seed)
    : path_(std::move(path)), seed_(seed) {
  for (const auto& [name, size] : sizes) sizes_.constrain(name, size, path_);
}

std::vector<std::int64_t> LeafDrawer::sizes_of(const Value& input) {
  if (!input.spec)
    throw Error(path_, fmt::format("the input '{}' is no tensor; random values are for tensors",
                                   input.name));
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < input.spec->sizes.size(); ++i)
    sizes.push_back(i < input.dimensions.size() ? size_of(input.dimensions[i], input.name)
                                                : input.spec->sizes[i]);
  return sizes;
}

void LeafDrawer::constrain(const Value& input, const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 0; i < std::min(sizes.size(), input.dimensions.size()); ++i)
    if (const Dimension& dimension = input.dimensions[i];
        !dimension.symbol.empty() && !sizes_.evaluate(dimension.symbol))
      sizes_.constrain(dimension.symbol, sizes[i], path_);
}

ConstantPointer LeafDrawer::draw(const Value& input, std::int64_t bound) {
  std::vector<std::int64_t> sizes = sizes_of(input);
  std::int64_t count = 1;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count) || count > most_elements)
      throw Error(path_, fmt::format("the input '{}' has too many numbers", input.name));
  ConstantPointer made =
      random_values(input.spec->dtype, std::move(sizes), static_cast<std::size_t>(count), bound,
                    seed_ ^ hash_of(input.name));
  if (!made)
    throw Error(path_, fmt::format("there are no random values of {}, the dtype of the input '{}'",
                                   name(input.spec->dtype), input.name));
  return made;
}

std::int64_t LeafDrawer::size_of(const Dimension& dimension, const std::string& input) {
  if (dimension.symbol.empty() && dimension.size >= 0) return dimension.size;
  const std::string symbol = dimension.symbol.empty() ? input : dimension.symbol;
  if (const auto known = sizes_.evaluate(symbol)) return *known;
  sizes_.constrain(symbol, next_++, path_);
  return sizes_.evaluate(symbol).value_or(next_ - 1);
}

}  // namespace symprof::workbench
