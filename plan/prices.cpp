#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "plan/rent.h"

namespace symprof::plan {
namespace {

using PriceDocument = nlohmann::json;

constexpr std::uintmax_t largest_price_file = 1 << 20;
constexpr auto price_form = R"(Write {"currency": "EUR", "per_hour": {"h100": 1.5}}.)";

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw Error(path, problem, price_form);
}

void check_keys(const PriceDocument& json, const std::string& path) {
  if (!json.is_object()) refuse(path, "is not a JSON object");
  for (const auto& [key, value] : json.items())
    if (key != "currency" && key != "per_hour" && key != "source")
      refuse(path, fmt::format("'{}' is not known", key));
  if (!json.contains("currency") || !json["currency"].is_string())
    refuse(path, "'currency' is missing, or no text");
  if (!json.contains("per_hour") || !json["per_hour"].is_object())
    refuse(path, "'per_hour' is missing, or no object");
}

}  // namespace

Prices parse_prices(const std::string& json, const std::string& path) {
  const PriceDocument document = PriceDocument::parse(json, nullptr, false);
  if (document.is_discarded()) refuse(path, "is not well-formed JSON");
  check_keys(document, path);
  Prices prices{.currency = document["currency"].get<std::string>(), .per_hour = {}};
  for (const auto& [device, price] : document["per_hour"].items()) {
    if (!price.is_number() || !std::isfinite(price.get<double>()) || price.get<double>() < 0)
      refuse(path, fmt::format("'per_hour.{}' is no price", device));
    prices.per_hour[device] = price.get<double>();
  }
  return prices;
}

Prices load_prices(const std::string& path) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code) refuse(path, "cannot be read");
  if (size > largest_price_file) refuse(path, "is too large for a list of prices");
  std::ifstream file(path);
  return parse_prices({std::istreambuf_iterator<char>(file), {}}, path);
}

}  // namespace symprof::plan
