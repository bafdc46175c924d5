// The options of commands that run a model: MODEL, and one for each setting that the command
// accepts.
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_spec.h"
#include "session/settings.h"
#include "session/verbs.h"

namespace symprof::cli {

/// The options as typed.
struct SettingTexts {
  struct Given {
    const CLI::Option* option = nullptr;
    std::string one;
    std::vector<std::string> several;
    bool flag = false;

    bool is_given() const { return option->count() > 0; }
  };

  std::string model;
  std::map<std::string_view, Given> given;  ///< By the name of the setting.
};

/// The settings that `verb` obeys. `texts` has to outlive the parsing.
void add_setting_options(CLI::App& app, SettingTexts& texts, Verb verb);

/// The devices of a --device that accepts several, separated by commas, or "all"; empty if not
/// given. Replaces it in `texts` by the first device. Throws Error as find_devices.
std::vector<DeviceSpec> take_devices(SettingTexts& texts);

/// Throws Error for the first invalid value, and for settings that exclude each other.
Settings read_settings(const SettingTexts& texts);

}  // namespace symprof::cli
