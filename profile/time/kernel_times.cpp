#include "profile/time/kernel_times.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

using Document = nlohmann::json;

constexpr std::uintmax_t largest_times_file = 16 << 20;

class TimesReader {
 public:
  explicit TimesReader(const std::string& path) : path_(path) {}

  KernelTimes read(const Document& json) {
    if (!json.is_object() || !json.contains("classes") || !json["classes"].is_object())
      fail("classes", "is missing, or no object");
    KernelTimes times(time_classes);
    for (const auto& [key, value] : json["classes"].items()) {
      const std::optional<TimeClass> time_class = class_of(key);
      if (!time_class) fail(key, "is no class of kernels");
      class_ = key;
      times[static_cast<int>(*time_class)] = read_class(value, formula_of(*time_class));
    }
    return times;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw Error(path_, fmt::format("'{}{}{}' {}", class_, class_.empty() ? "" : ".", key, problem),
                "Compare with the files in devices/time/, which scripts/time/ writes.");
  }

  static std::optional<TimeClass> class_of(const std::string& key) {
    for (int i = 0; i < time_classes; ++i)
      if (name(static_cast<TimeClass>(i)) == key) return static_cast<TimeClass>(i);
    return std::nullopt;
  }

  double number(const Document& json, const std::string& key) const {
    if (!json.is_number() || !std::isfinite(json.get<double>())) fail(key, "is no number");
    return json.get<double>();
  }

  std::vector<double> coefficients(const Document& json, const Formula& formula) const {
    std::vector<double> result;
    result.reserve(formula.coefficients.size());
    for (const Coefficient& row : formula.coefficients) {
      const std::string key(row.name);
      if (row.absent > 0 && json.is_object() && !json.contains(key)) {
        result.push_back(row.absent);
        continue;
      }
      if (!json.is_object() || !json.contains(key)) fail("coefficients." + key, "is missing");
      result.push_back(number(json[key], "coefficients." + key));
      if (result.back() <= 0) fail("coefficients." + key, "is not above 0");
    }
    return result;
  }

  /// [size, size, …, residual]
  ResidualPoint point(const Document& json) const {
    if (!json.is_array() || json.size() < 2) fail("points", "has what is no list of numbers");
    ResidualPoint result;
    result.sizes.reserve(json.size() - 1);
    for (const Document& value : json) result.sizes.push_back(number(value, "points"));
    result.residual = result.sizes.back();
    result.sizes.pop_back();
    return result;
  }

  Spread spread(const Document& json) const {
    if (!json.is_object()) fail("spread", "is no object");
    Spread result;
    for (const auto& [key, value] : json.items()) {
      const double power = number(value, "spread." + key);
      if (key == "deviation")
        result.deviation = power;
      else if (key == "scatter")
        result.scatter = power;
      else if (key == "launch")
        result.launch = power;
      else
        fail("spread." + key, "is unknown");
    }
    return result;
  }

  /// {"half_width": 0.2, "pairs": 413, "source": "…"}
  double campaigns(const Document& json) const {
    if (!json.is_object() || !json.contains("half_width"))
      fail("campaigns.half_width", "is missing");
    const double half_width = number(json["half_width"], "campaigns.half_width");
    if (half_width < 0) fail("campaigns.half_width", "is below 0");
    return half_width;
  }

  ClassTimes read_class(const Document& json, const Formula& formula) const {
    if (!json.is_object()) fail("", "is no object");
    ClassTimes times;
    times.coefficients = coefficients(json.value("coefficients", Document()), formula);
    times.interval = number(json.value("interval", Document()), "interval");
    if (json.contains("spread")) times.spread = spread(json["spread"]);
    if (json.contains("campaigns")) times.campaigns = campaigns(json["campaigns"]);
    times.fitted_on = json.value("fitted_on", "");
    const Document factors = json.value("factors", Document::object());
    for (const auto& [kind, factor] : factors.items())
      if (times.factors[kind] = number(factor, "factors." + kind); times.factors[kind] <= 0)
        fail("factors." + kind, "is not above 0");
    times.is_calibrated = json.value("calibrated", false);
    if (json.contains("largest_residual"))
      times.largest_residual = number(json["largest_residual"], "largest_residual");
    times.is_at_boost = json.value("at_boost", false);
    times.floor_is_host = json.value("floor_is_host", false);
    if (json.contains("points")) {
      times.points.reserve(json["points"].size());
      for (const Document& value : json["points"]) times.points.push_back(point(value));
    }
    if (json.contains("in_cache"))
      times.in_cache = std::make_shared<const ClassTimes>(read_class(json["in_cache"], formula));
    return times;
  }

  std::string path_, class_;
};

}  // namespace

double factor_of(const KindFactors& factors, std::string_view kind) {
  auto found = factors.find(kind);
  if (found == factors.end()) found = factors.find(other_kinds);
  return found == factors.end() ? 1 : found->second;
}

KernelTimes parse_kernel_times(const std::string& json, const std::string& path) {
  try {
    return TimesReader(path).read(Document::parse(json));
  } catch (const Document::exception& error) {
    throw Error(path, fmt::format("is not well-formed ({})", error.what()),
                "Compare with the files in devices/time/.");
  }
}

namespace {

/// A cached file with its modification time, because programs load the same file repeatedly.
struct KnownFile {
  std::filesystem::file_time_type written;
  std::uintmax_t size = 0;
  KernelTimes times;
};

}  // namespace

KernelTimes load_kernel_times(const std::string& path) {
  std::error_code code, no_date;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  const auto written = std::filesystem::last_write_time(path, no_date);
  if (code)
    throw Error(path, "cannot be read", "A device's file names it as 'kernel_times': correct it.");
  if (size > largest_times_file)
    throw Error(path, "is too large for coefficients of kernel times",
                "Those of devices/time/ have a few thousand numbers.");
  static std::mutex lock;
  static std::map<std::string, KnownFile> known;
  const std::lock_guard guard(lock);
  const auto found = known.find(path);
  if (found != known.end() && found->second.written == written && found->second.size == size)
    return found->second.times;
  std::ifstream file(path);
  KernelTimes times = parse_kernel_times({std::istreambuf_iterator<char>(file), {}}, path);
  if (!no_date) known[path] = {written, size, times};
  return times;
}

}  // namespace symprof::profile
