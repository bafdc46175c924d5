#include "base/kernel_clocks.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace symprof {
namespace {

constexpr auto compare_clocks = "Compare with devices/clocks/h200.json.";

nlohmann::json parsed_clocks(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path, "there is no such file of kernel clocks", compare_clocks);
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw Error(path, fmt::format("is not well-formed JSON ({})", error.what()), compare_clocks);
  }
}

}  // namespace

KernelClocks load_kernel_clocks(const std::string& path) {
  KernelClocks clocks;
  const nlohmann::json json = parsed_clocks(path);
  if (!json.is_object()) throw Error(path, "is not a JSON object", compare_clocks);
  for (const auto& [rule, values] : json.items()) {
    if (rule == "source") continue;
    if (!values.is_object() || !values.contains("source"))
      throw Error(path, fmt::format("'{}' is not an object with a 'source'", rule), compare_clocks);
    for (const auto& [name, value] : values.items()) {
      if (name == "source") continue;
      const double number = value.is_number() ? value.get<double>() : 0;
      if (!std::isfinite(number) || number <= 0)
        throw Error(path,
                    fmt::format("'{}.{}' is {}; wanted a number above 0", rule, name, value.dump()),
                    compare_clocks);
      clocks.emplace(fmt::format("{}.{}", rule, name), number);
    }
  }
  return clocks;
}

}  // namespace symprof
