#include "report/profile/figure_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/figure_sums.h"
#include "report/profile/unmodelled.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

bool has_products(const Figure& figure) {
  return figure.unit == FigureUnit::products || figure.products != nullptr;
}

bool lacks_calls(const Figure& figure, const Profile& profile) {
  if (figure.calls == profile::CallsOf::none || is_time(figure)) return false;
  UnmodelledCalls missing;
  for (const NodeProfile& node : profile.nodes)
    missing += unmodelled_calls(node, profile.recording);
  return unmodelled(missing, figure) > 0;
}

}  // namespace

std::string_view name(Unit unit) { return unit == Unit::flops ? "FLOPs" : "MACs"; }

std::string in_unit(std::string_view text, const Figure& figure, Unit unit) {
  std::string result(text);
  if (!has_products(figure) || unit == Unit::flops) return result;
  const std::size_t title = result.find("FLOPs");
  if (title != std::string::npos) return result.replace(title, 5, "MACs");
  return result.replace(result.find("flops"), 5, "macs");
}

std::optional<std::int64_t> value_of(const Figure& figure, const RowFigures& row, Unit unit) {
  const std::optional<std::int64_t> value = profile::value_of(figure, row);
  if (!value || !has_products(figure)) return value;
  if (figure.unit == FigureUnit::products) return in_unit(*value, unit);
  const std::int64_t products = row.*figure.products;
  return *value - products + in_unit(products, unit);
}

std::optional<std::int64_t> total_of(const Figure& figure, const Profile& profile, Unit unit) {
  if (figure.total == nullptr) return std::nullopt;
  const std::optional<std::int64_t> value = figure.total(profile);
  if (!value || !has_products(figure)) return value;
  if (figure.unit == FigureUnit::products) return in_unit(*value, unit);
  const Figure& of_products =
      *std::ranges::find(profile::figures(), figure.products, &Figure::counter);
  const std::int64_t products = of_products.total(profile).value_or(0);
  return *value - products + in_unit(products, unit);
}

std::string plain_text(const Figure& figure, std::int64_t value) {
  if (figure.unit == FigureUnit::microseconds)
    return fmt::format("{:.3f}", static_cast<double>(value) / 1e3);
  if (figure.unit == FigureUnit::share)
    return fmt::format("{:.6f}", static_cast<double>(value) / 1e6);
  return std::to_string(value);
}

std::optional<std::int64_t> known_total_of(const Figure& figure, const Profile& profile,
                                           Unit unit) {
  const std::optional<std::int64_t> value = total_of(figure, profile, unit);
  return value == 0 && lacks_calls(figure, profile) ? std::nullopt : value;
}

std::string total_text(std::string_view key, const Profile& profile, Unit unit) {
  const Figure& figure = profile::figure_of(key);
  const std::int64_t value = total_of(figure, profile, unit).value_or(0);
  if (figure.unit == FigureUnit::bytes) return format_bytes(value);
  if (figure.unit == FigureUnit::count) return group_digits(value);
  const std::string_view of = has_products(figure) ? name(unit) : "FLOPs";
  if (!lacks_calls(figure, profile)) return format_count(value, of);
  return value == 0 ? fmt::format("? {}", of) : "> " + format_count(value, of);
}

}  // namespace symprof::report
