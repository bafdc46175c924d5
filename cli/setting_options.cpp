#include "cli/setting_options.h"

#include "cli/command.h"
#include "report/write/option_spelling.h"
#include "session/devices.h"
#include "session/read_text.h"
#include "session/setting_table.h"

namespace symprof::cli {
namespace {

using settings::Arity;
using settings::Setting;

void add_option(CLI::App& app, const Setting& setting, SettingTexts::Given& given) {
  const std::string name = report::spell_as_option({std::string(setting.name)});
  const std::string help = spelled_names(setting.help.text(), report::spell_as_option);
  CLI::Option* option = nullptr;
  if (setting.arity == Arity::flag)
    option = app.add_flag(name, given.flag, help);
  else if (setting.arity == Arity::several)
    option = app.add_option(name, given.several, help)->allow_extra_args(false);
  else
    option = app.add_option(name, given.one, help);
  option->type_name(std::string(setting.placeholder))->group(std::string(setting.group));
  given.option = option;
}

}  // namespace

void add_setting_options(CLI::App& app, SettingTexts& texts, Verb verb) {
  app.add_option("MODEL", texts.model, model_file)->required()->type_name("");
  for (const std::string_view group : settings::groups())
    for (const Setting* setting : settings::settings_of(verb))
      if (setting->group == group) add_option(app, *setting, texts.given[setting->name]);
}

std::vector<DeviceSpec> take_devices(SettingTexts& texts) {
  SettingTexts::Given& device = texts.given.at("device");
  if (!device.is_given()) return {};
  const std::vector<std::string> names = settings::split_list(device.one);
  std::vector<DeviceSpec> devices = find_devices(names);
  device.one = device.one == "all" ? devices.front().name : names.front();
  return devices;
}

Settings read_settings(const SettingTexts& texts) {
  Settings settings;
  for (const Setting& setting : settings::table()) {
    const auto found = texts.given.find(setting.name);
    if (found == texts.given.end() || !found->second.is_given()) continue;
    const SettingTexts::Given& given = found->second;
    if (setting.arity == Arity::several)
      for (const std::string& text : given.several) setting.read(settings, text);
    else
      setting.read(settings, given.one);
  }
  settings::check(settings);
  return settings;
}

}  // namespace symprof::cli
