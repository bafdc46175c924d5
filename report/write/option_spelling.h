// The command line's form of the settings in errors and reports.
#pragma once

#include <string>

#include "base/setting.h"

namespace symprof::report {

/// "--kv-cache 4096", "--set batch=8".
std::string spell_as_option(const SettingRef& setting);

}  // namespace symprof::report
