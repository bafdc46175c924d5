// A change of how a model is run, as a value: settings and their values.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "base/setting.h"

namespace symprof::plan {

/// Settings added to those of the run, in order. A flag's value is empty.
struct Change {
  std::vector<SettingRef> settings;

  bool operator==(const Change&) const = default;
};

/// Both changes, one after the other.
inline Change operator+(Change first, const Change& second) {
  first.settings.insert(first.settings.end(), second.settings.begin(), second.settings.end());
  return first;
}

/// The settings side by side, as references that a front end formats (base/setting.h).
inline std::string text_of(const Change& change) {
  std::string text;
  for (const SettingRef& reference : change.settings)
    text += (text.empty() ? "" : " ") + unspelled(reference);
  return text;
}

}  // namespace symprof::plan
