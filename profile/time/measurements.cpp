// Measurements of kernels as a file: a class, the numbers of its work in the order of its struct,
// and microseconds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/functions.h"
#include "profile/time/sweep.h"

namespace symprof::profile {
namespace {

constexpr auto measurements_schema = "symprof.kernels/1";
constexpr std::int64_t largest_launches = 1000;

using WorkNumbers = std::vector<std::int64_t>;

WorkNumbers sizes_in_file(const StreamWork& work) { return {work.bytes}; }
WorkNumbers sizes_in_file(const RowWork& work) { return {work.rows, work.length, work.bytes}; }
WorkNumbers sizes_in_file(const ProductWork& work) {
  return {work.batch,        work.m,          work.n, work.k, work.operand_bytes,
          work.result_bytes, work.weight_sets};
}
WorkNumbers sizes_in_file(const AttentionWork& work) {
  return {work.batch,    work.heads,        work.kv_heads, work.queries, work.keys,
          work.head_dim, work.number_bytes, work.causal,   work.backward};
}
WorkNumbers sizes_in_file(const ConvolutionWork& work) {
  return {static_cast<std::int64_t>(work.pass),
          work.batch,
          work.in_channels,
          work.out_channels,
          work.groups,
          work.in,
          work.out,
          work.window,
          work.number_bytes,
          work.is_winograd,
          work.channels_last};
}
WorkNumbers sizes_in_file(const RecurrentWork&) { return {}; }
WorkNumbers sizes_in_file(const FunctionWork& work) {
  return {static_cast<std::int64_t>(work.function), work.numbers, work.bytes};
}

/// True if the numbers in [first, last) are valid sizes.
bool are_sizes(const WorkNumbers& numbers, std::size_t first, std::size_t last) {
  return std::all_of(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                     numbers.begin() + static_cast<std::ptrdiff_t>(last),
                     [](std::int64_t size) { return size >= 1; });
}

/// True if an enumeration value is valid: less than `choices`.
bool is_choice(std::int64_t number, std::int64_t choices) { return number < choices; }

std::optional<Work> attention_in(const WorkNumbers& s) {
  if (s.size() != 9 || !are_sizes(s, 0, 7) || !is_choice(s[7], 2) || !is_choice(s[8], 2))
    return std::nullopt;
  return AttentionWork{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] != 0, s[8] != 0};
}

std::optional<Work> convolution_in(const WorkNumbers& s) {
  if (s.size() != 11 || !is_choice(s[0], 3) || !are_sizes(s, 1, 9) || !is_choice(s[9], 2) ||
      !is_choice(s[10], 2))
    return std::nullopt;
  return ConvolutionWork{static_cast<ConvolutionPass>(s[0]),
                         s[1],
                         s[2],
                         s[3],
                         s[4],
                         s[5],
                         s[6],
                         s[7],
                         s[8],
                         s[9] != 0,
                         s[10] != 0};
}

std::optional<Work> function_in(const WorkNumbers& s) {
  if (s.size() != 3 || !is_choice(s[0], std::size(function_facts)) || !are_sizes(s, 1, 3))
    return std::nullopt;
  return FunctionWork{static_cast<Function>(s[0]), s[1], s[2]};
}

ProductWork product_in(const WorkNumbers& s) {
  ProductWork work{s[0], s[1], s[2], s[3], s[4], s[5], s[6]};
  work.layout = swept_layout(work);
  return work;
}

/// nullopt if the numbers do not fit the work of the class.
std::optional<Work> work_of(TimeClass time_class, const WorkNumbers& sizes) {
  auto* const formula = formula_of(time_class).time;
  if (formula == attention_time) return attention_in(sizes);
  if (formula == convolution_time || formula == tensor_convolution_time ||
      formula == depthwise_time || formula == library_depthwise_time)
    return convolution_in(sizes);
  if (formula == function_time) return function_in(sizes);
  if (!are_sizes(sizes, 0, sizes.size())) return std::nullopt;
  if (formula == stream_time && sizes.size() == 1) return StreamWork{sizes[0]};
  if (formula == row_time && sizes.size() == 3) return RowWork{sizes[0], sizes[1], sizes[2]};
  if (formula == product_time && sizes.size() == 7) return product_in(sizes);
  return std::nullopt;
}

std::optional<TimeClass> class_named(std::string_view wanted) {
  for (int i = 0; i < time_classes; ++i)
    if (name(static_cast<TimeClass>(i)) == wanted) return static_cast<TimeClass>(i);
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw Error(path, problem, "Give the file of an earlier sweep, or begin a new one.");
}

MeasuredKernel measurement_in(const nlohmann::json& row, std::size_t place,
                              const std::string& path) {
  const auto here = [&](const char* problem) {
    refuse(path, fmt::format("'kernels[{}]' {}", place, problem));
  };
  const std::optional<TimeClass> time_class = class_named(row.at("class").get<std::string>());
  if (!time_class) here("is of no class of kernels");
  for (const nlohmann::json& size : row.at("work"))
    if (!size.is_number_integer() || size.get<double>() < 0 || size.get<double>() > 0x1p53)
      here("has a size that is no whole number up to 2^53");
  const std::optional<Work> work = work_of(*time_class, row["work"].get<WorkNumbers>());
  if (!work) here("has not the sizes of its class");
  const auto us = row.at("us").get<double>();
  if (!std::isfinite(us) || us <= 0) here("took no time");
  const std::int64_t launches = row.value("launches", std::int64_t{1});
  if (launches < 1 || launches > largest_launches) here("has a wrong number of launches");
  return {{*time_class, *work, static_cast<int>(launches)}, us};
}

}  // namespace

std::string to_json(const std::vector<MeasuredKernel>& measured) {
  nlohmann::ordered_json json{{"schema", measurements_schema},
                              {"kernels", nlohmann::ordered_json::array()}};
  for (const MeasuredKernel& row : measured) {
    WorkNumbers sizes =
        std::visit([](const auto& work) { return sizes_in_file(work); }, row.kernel.work);
    if (sizes.empty())
      throw Error(std::string(name(row.kernel.time_class)), "has no form in a file of measurements",
                  "Leave its rows out.");
    json["kernels"].push_back({{"class", std::string(name(row.kernel.time_class))},
                               {"work", std::move(sizes)},
                               {"us", row.us}});
    if (row.kernel.launches != 1) json["kernels"].back()["launches"] = row.kernel.launches;
  }
  return json.dump() + "\n";
}

std::vector<MeasuredKernel> parse_measurements(const std::string& text,
                                               const std::string& path) try {
  const auto json = nlohmann::json::parse(text);
  if (json.at("schema") != measurements_schema)
    refuse(path,
           fmt::format("has the schema {}, not {}", json.at("schema").dump(), measurements_schema));
  const nlohmann::json& rows = json.at("kernels");
  if (!rows.is_array()) refuse(path, "'kernels' is no list");
  std::vector<MeasuredKernel> measured;
  measured.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    measured.push_back(measurement_in(rows[i], i, path));
  return measured;
} catch (const nlohmann::json::exception& error) {
  refuse(path, fmt::format("is no file of measurements ({})", error.what()));
}

}  // namespace symprof::profile
