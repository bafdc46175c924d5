// The properties of a text report's destination.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>

#include "base/setting.h"

namespace symprof::report {

enum class Color : std::uint8_t { off, on };

/// A file or a pipe has neither color nor a width.
struct Layout {
  Color color = Color::off;
  std::optional<int> width;              ///< Columns of the terminal.
  SettingSpeller spell = spell_plainly;  ///< How the report's readers write settings.
};

}  // namespace symprof::report
