// References to settings in texts. Each front end formats them differently (the command line writes
// --kv-cache 4096), so a text contains a reference, and the front end formats it.
//
// Public header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symprof {

/// A setting of a run, optionally with its value.
struct SettingRef {
  std::string name;  ///< Neutral name in snake_case: "kv_cache", "sizes".
  /// "4096"; "batch=8" for a setting with an entry per name. May be empty.
  std::string value = {};

  /// The name of the entry: "batch" of "batch=8". Empty if the value is no entry.
  std::string_view entry() const;

  bool operator==(const SettingRef&) const = default;
};

/// Formats a setting for a front end.
using SettingSpeller = std::string (*)(const SettingRef&);

/// For users of the library: "kv_cache", "kv_cache=4096", "sizes batch=8".
std::string spell_plainly(const SettingRef& setting);
/// For texts that become part of another text: the reference itself.
std::string unspelled(const SettingRef& setting);

/// A reference, to be formatted into a text.
std::string setting(std::string_view name, std::string_view value = {});

/// `text` with its references formatted.
std::string spelled(std::string_view text, SettingSpeller spell = spell_plainly);
/// `text` with setting names in braces formatted: "with {dtype}". For constant texts.
std::string spelled_names(std::string_view text, SettingSpeller spell = spell_plainly);
/// The settings that `text` refers to, in order.
std::vector<SettingRef> settings_in(std::string_view text);

}  // namespace symprof
