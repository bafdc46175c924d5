// A line of a report about the whole step.
#pragma once

#include <string>
#include <string_view>

#include "report/write/text_table.h"

namespace symprof::report {

struct FooterLine {
  std::string_view label;  ///< Empty: continues the line before.
  std::string text;        ///< May refer to settings (base/setting.h).
  Emphasis emphasis = Emphasis::normal;
};

}  // namespace symprof::report
