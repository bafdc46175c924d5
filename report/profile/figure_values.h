// Figures as text in the requested unit.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/figures.h"

namespace symprof::report {

using profile::Figure;
using profile::FigureUnit;

/// The unit of FLOPs.
enum class Unit : std::uint8_t {
  flops,  ///< A multiply-add is 2.
  macs,   ///< Products halved, so that a multiply-add is 1; other FLOPs unchanged.
};

/// "FLOPs" or "MACs".
std::string_view name(Unit unit);

/// FLOPs of products as `unit` counts them.
constexpr std::int64_t in_unit(std::int64_t products, Unit unit) {
  return unit == Unit::flops ? products : products / 2;
}

/// A title or a key of `figure`: "Fwd FLOPs" to "Fwd MACs", "fwd_flops" to "fwd_macs" where it has
/// products.
std::string in_unit(std::string_view text, const Figure& figure, Unit unit);

/// True for times and their shares.
constexpr bool is_time(const Figure& figure) {
  return figure.unit == FigureUnit::microseconds || figure.unit == FigureUnit::share;
}

/// `value` of `figure` for programs: nanoseconds as microseconds, parts of a million as a fraction,
/// other values unchanged.
std::string plain_text(const Figure& figure, std::int64_t value);

/// Empty for a figure that rows do not have.
std::optional<std::int64_t> value_of(const Figure& figure, const RowFigures& row, Unit unit);
/// Empty where nothing computes it.
std::optional<std::int64_t> total_of(const Figure& figure, const Profile& profile, Unit unit);

/// The same for programs that read it: empty, too, where all calls that it would sum have no rule.
std::optional<std::int64_t> known_total_of(const Figure& figure, const Profile& profile, Unit unit);

/// "4.59 MiB", "924.84 MMACs", "86,567,656": the total called `key`, 0 where nothing computes it.
/// "> 924.84 MMACs" and "? MMACs" where calls have no rule, as rows say it.
std::string total_text(std::string_view key, const Profile& profile, Unit unit);

}  // namespace symprof::report
