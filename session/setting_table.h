// The settings of a run, one row each: how a text becomes one, how it is printed, what it excludes.
// The command line's parser and help, the options in JSON and the refusals read these rows. A new
// setting is a row here, a member of Settings, and the code that obeys it.
//
// Public header.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/setting.h"
#include "session/setting_value.h"
#include "session/settings.h"
#include "session/verbs.h"

namespace symprof::settings {

/// How often a setting may be given, and with which value.
enum class Arity : std::uint8_t {
  flag,     ///< A switch without a value.
  one,      ///< Once, with a value.
  several,  ///< Repeatable, each time with a value.
};

/// The condition for a setting to have an effect.
enum class Needs : std::uint8_t {
  nothing,
  backward,   ///< A backward pass: refused in inference.
  optimizer,  ///< An update, and so a backward pass.
};

/// The stage that a changed setting affects.
enum class Alters : std::uint8_t {
  step,   ///< How the graph is run, or the loop around it.
  graph,  ///< The graph: it has to be prepared again.
};

/// One line of help. Other settings in it are in braces: "with {dtype}".
class Help {
 public:
  constexpr Help(const char* text) : text_(text) {}
  /// Help of a setting whose values have a list of names: from that list.
  constexpr Help(std::string (*make)()) : make_(make) {}

  std::string text() const { return make_ == nullptr ? std::string(text_) : make_(); }

 private:
  std::string_view text_;
  std::string (*make_)() = nullptr;
};

struct Setting {
  std::string_view name;   ///< "kv_cache"; as in JSON and in Python.
  std::string_view group;  ///< The heading in help; settings of a group are adjacent.
  Arity arity = Arity::one;
  std::string_view placeholder;  ///< The value's placeholder in help: "DTYPE"; empty for a flag.
  Help help;
  /// Reads one text ("" for a flag) into the settings. Throws Error about the setting.
  void (*read)(Settings&, const std::string&);
  /// The value in JSON; null where JSON omits it.
  Value (*value)(const Settings&);
  Needs needs = Needs::nothing;
  Alters alters = Alters::step;
  Verbs verbs = verbs_of_steps;  ///< Verbs that accept the setting.
};

/// All settings, in the order of JSON.
std::span<const Setting> table();

/// The groups of settings, in the order of help.
std::span<const std::string_view> groups();

/// The setting called `name`. Throws Error that suggests the nearest name.
const Setting& find(std::string_view name);

/// The settings of `verb`, in the order of JSON.
std::vector<const Setting*> settings_of(Verb verb);

/// Reads `text` into the setting `name`. Throws Error.
void set(Settings& settings, std::string_view name, const std::string& text);

/// Throws Error for settings that exclude each other, as one would be ignored.
void check(const Settings& settings);

}  // namespace symprof::settings
