// Settings that a text speaks of. Each face has its own spelling for them (the command line writes
// --kv-cache 4096), so a text refers to a setting, and whoever prints the text spells it.
//
// Public header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symprof {

/// A setting of a run, and what it is given where a text says that.
struct SettingRef {
  std::string name;  ///< In snake_case, as no face in particular spells it: "kv_cache", "sizes".
  /// "4096"; "batch=8" of a setting that has an entry for each name. May be empty.
  std::string value = {};

  /// The name of the entry: "batch" of "batch=8". Empty where the value is no entry.
  std::string_view entry() const;

  bool operator==(const SettingRef&) const = default;
};

/// How somebody who prints a text writes a setting.
using SettingSpeller = std::string (*)(const SettingRef&);

/// For programs that call the library: "kv_cache", "kv_cache=4096", "sizes batch=8".
std::string spell_plainly(const SettingRef& setting);
/// For texts that become part of another one: the reference itself.
std::string unspelled(const SettingRef& setting);

/// A reference as a part of a text, to be formatted into it.
std::string setting(std::string_view name, std::string_view value = {});

/// `text` with words in the place of its references.
std::string spelled(std::string_view text, SettingSpeller spell = spell_plainly);
/// `text` with words in the place of names in braces: "with {dtype}". Constant texts refer so.
std::string spelled_names(std::string_view text, SettingSpeller spell = spell_plainly);
/// What `text` refers to, in its order.
std::vector<SettingRef> settings_in(std::string_view text);

}  // namespace symprof
