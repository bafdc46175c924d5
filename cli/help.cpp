#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/usage.h"

namespace symprof::cli {
namespace {

constexpr int name_width = 28, line_width = 120;

/// `text` in lines of at most `width` columns, or of one word.
std::string wrapped(std::string text, std::size_t width) {
  for (std::size_t begin = 0; text.size() - begin > width;) {
    std::size_t blank = text.rfind(' ', begin + width);
    if (blank == std::string::npos || blank <= begin) blank = text.find(' ', begin + width);
    if (blank == std::string::npos) break;
    text[blank] = '\n';
    begin = blank + 1;
  }
  return text;
}

/// CLI11's formatter, without redundant words.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(name_width);
    label("Positionals", "Model");
  }

  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string text = "\nUsage: " + command_line(*app);
    if (!app->get_subcommands({}).empty()) text += " COMMAND";
    std::string others;  // Optional arguments: a second model stands behind "--".
    bool is_first = true;
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      if (is_first || option->get_required())
        text += " " + option->get_name();
      else
        others += " [-- " + option->get_name() + "]";
      is_first = false;
    }
    return text + " [options]" + others + "\n";
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option), line_width - name_width);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? type : " " + type;
  }
};

/// CLI11 leaves two blank lines between groups.
std::string help_text(const CLI::App& app) {
  std::string text = app.help();
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

void set_up(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "This text")->group("Output");
  if (app.get_parent()) app.group("Commands");
  app.allow_extras();
}

int print_help(const CLI::App& app, std::FILE* stream) {
  std::fputs(help_text(innermost_command(app)).c_str(), stream);
  return stream == stdout ? done : bad_input;
}

}  // namespace symprof::cli
