#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.h"

namespace symprof::cli {
namespace {

/// CLI11's own, without the words that a reader does not need.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(28);
    label("OPTIONS", "options");
    label("SUBCOMMAND", "COMMAND");
    label("Subcommands", "Commands");
    label("Positionals", "Model");
    label("REQUIRED", "");
    label("Options", "Output and help");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? type : " " + type;
  }
};

}  // namespace

void set_up(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "This text");
  app.allow_extras();
}

int print_help(const CLI::App& app) {
  const CLI::App* where = &app;
  for (const CLI::App* command : app.get_subcommands()) where = command;
  std::fputs(where->help().c_str(), stdout);
  return done;
}

}  // namespace symprof::cli
