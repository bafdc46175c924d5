// The options of commands that run a model: MODEL, and one for each row of the table of settings
// that the command obeys.
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

/// What was typed.
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

/// The devices of a --device that takes several, with commas between, or "all"; empty where it was
/// not given. In `texts` stands after that the first. Throws Error as find_devices.
std::vector<DeviceSpec> take_devices(SettingTexts& texts);

/// Throws Error for the first value that is not one, and for settings that exclude each other.
Settings read_settings(const SettingTexts& texts);

}  // namespace symprof::cli
