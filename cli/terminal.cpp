#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "report/write/option_spelling.h"

namespace symprof::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool is_terminal(Stream stream) { return isatty(static_cast<int>(stream)) == 1; }

report::Layout layout_of(Stream stream) {
  report::Layout layout{.spell = report::spell_as_option};
  if (!is_terminal(stream)) return layout;
  // https://no-color.org: any non-empty value.
  if (environment("NO_COLOR").empty() && environment("TERM") != "dumb")
    layout.color = report::Color::on;
  winsize size{};
  if (ioctl(static_cast<int>(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    layout.width = size.ws_col;
  return layout;
}

bool has_plain_letters_only() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    if (locale == "C" || locale == "POSIX") return true;
    const std::size_t dot = locale.find('.');
    if (dot == std::string_view::npos) return false;
    const std::string_view charset = locale.substr(dot + 1, locale.find('@') - dot - 1);
    return charset != "UTF-8" && charset != "utf8" && charset != "utf-8" && charset != "UTF8";
  }
  return false;
}

}  // namespace symprof::cli
