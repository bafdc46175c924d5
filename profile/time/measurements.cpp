// Measurements of kernels as a file: a class, the numbers of its work in the order of its struct,
// and microseconds.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/sweep.h"

namespace symprof::profile {
namespace {

constexpr auto measurements_schema = "symprof.kernels/1";

using WorkNumbers = std::vector<std::int64_t>;

WorkNumbers sizes_in_file(const StreamWork& work) { return {work.bytes}; }
WorkNumbers sizes_in_file(const RowWork& work) { return {work.rows, work.length, work.bytes}; }
WorkNumbers sizes_in_file(const ProductWork& work) {
  return {work.batch,        work.m,          work.n, work.k, work.operand_bytes,
          work.result_bytes, work.weight_sets};
}
WorkNumbers sizes_in_file(const AttentionWork&) { return {}; }
WorkNumbers sizes_in_file(const ConvolutionWork&) { return {}; }
WorkNumbers sizes_in_file(const RecurrentWork&) { return {}; }

/// Nothing where the class has no such work, or as many numbers are not its.
std::optional<Work> work_of(TimeClass time_class, const WorkNumbers& sizes) {
  auto* const formula = formula_of(time_class).time;
  if (formula == stream_time && sizes.size() == 1) return StreamWork{sizes[0]};
  if (formula == row_time && sizes.size() == 3) return RowWork{sizes[0], sizes[1], sizes[2]};
  if (formula == product_time && sizes.size() == 7)
    return ProductWork{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6]};
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
    if (!size.is_number_integer() || size.get<double>() < 1 || size.get<double>() > 0x1p53)
      here("has a size that is no whole number from 1 to 2^53");
  const std::optional<Work> work = work_of(*time_class, row["work"].get<WorkNumbers>());
  if (!work) here("has not the sizes of its class");
  const auto us = row.at("us").get<double>();
  if (!std::isfinite(us) || us <= 0) here("took no time");
  return {{*time_class, *work}, us};
}

}  // namespace

std::string to_json(const std::vector<MeasuredKernel>& measured) {
  nlohmann::ordered_json json{{"schema", measurements_schema},
                              {"kernels", nlohmann::ordered_json::array()}};
  for (const MeasuredKernel& row : measured) {
    WorkNumbers sizes =
        std::visit([](const auto& work) { return sizes_in_file(work); }, row.kernel.work);
    if (sizes.empty() || row.kernel.launches != 1)
      throw Error(std::string(name(row.kernel.time_class)), "has no form in a file of measurements",
                  "Leave its rows out.");
    json["kernels"].push_back({{"class", std::string(name(row.kernel.time_class))},
                               {"work", std::move(sizes)},
                               {"us", row.us}});
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
