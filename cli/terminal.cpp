#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "cli/option_spelling.h"

namespace symprof::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool is_terminal(Stream stream) { return isatty(static_cast<int>(stream)) == 1; }

report::Layout layout_of(Stream stream) {
  report::Layout layout{.spell = spell_as_option};
  if (!is_terminal(stream)) return layout;
  // https://no-color.org: any non-empty value.
  if (environment("NO_COLOR").empty() && environment("TERM") != "dumb")
    layout.colour = report::Colour::on;
  winsize size{};
  if (ioctl(static_cast<int>(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    layout.width = size.ws_col;
  return layout;
}

}  // namespace symprof::cli
