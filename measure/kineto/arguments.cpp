#include "measure/kineto/arguments.h"

#include <array>
#include <string_view>

namespace symprof::measure::kineto {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::array<std::string_view, 4> keys = {"Input type", "Input Dims", "Input Strides",
                                                  "Concrete Inputs"};

std::string text_of(element value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

/// Empty for a list of tensors, whose elements are lists.
std::vector<std::int64_t> numbers_of(element value) {
  std::vector<std::int64_t> numbers;
  array list;
  if (value.get(list) != simdjson::SUCCESS) return numbers;
  for (const element one : list)
    if (std::int64_t number = 0; one.get(number) == simdjson::SUCCESS) numbers.push_back(number);
  return numbers;
}

std::vector<OperatorArgument> list_of(const std::array<array, 4>& given) {
  const auto& [types, sizes, strides, values] = given;
  std::vector<OperatorArgument> list;
  list.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    list.push_back({text_of(types.at(i).value()), numbers_of(sizes.at(i).value()),
                    numbers_of(strides.at(i).value()), text_of(values.at(i).value())});
  return list;
}

}  // namespace

std::int32_t ArgumentLists::add(simdjson::dom::object arguments) {
  std::array<array, 4> given;
  std::string key;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (arguments[keys[i]].get(given[i]) != simdjson::SUCCESS) return none;
    if (given[i].size() != given[0].size()) return none;
    key += simdjson::minify(given[i]);
  }
  const auto [at, is_new] = known_.try_emplace(key, static_cast<std::int32_t>(lists_.size()));
  if (is_new) lists_.push_back(list_of(given));
  return at->second;
}

}  // namespace symprof::measure::kineto
