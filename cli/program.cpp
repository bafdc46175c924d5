#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/compare_costs.h"
#include "cli/help.h"
#include "cli/terminal.h"
#include "cli/usage.h"
#include "report/write/option_spelling.h"
#include "report/write/plain_letters.h"
#include "report/write/text_table.h"

namespace symprof::cli {
namespace {

struct Command {
  const char* name;
  Run (*add)(CLI::App& app);
};

constexpr Command commands[] = {
    {"profile", add_profile},
    {"fit", add_fit},
    {"plan", add_plan},
    {"measure", add_measure},
    {"calibrate", add_calibrate},
    {"devices", add_devices},
    {"ops", add_ops},
    {"show", add_show},
    {"stats", add_stats},
    {"inline", add_inline},
    {"partition", add_partition},
    {"strip", add_strip},
    {"fill", add_fill},
    {"optimize", add_optimize},
    {"compare", add_compare},
    {"bisect", add_bisect},
    {"dump", add_dump},
    {"restore", add_restore},
    {"dot", add_dot},
    {"engine", add_engine},
    {"memory", add_memory},
};

int run(std::vector<char*> words) {
  if (asks_for_costs(words)) words = as_profile(words);
  CLI::App app("What a deep-learning graph costs, before it runs.", "symprof");
  app.footer(
      "Examples:\n"
      "  symprof profile vit_b_16.pt2\n"
      "  symprof profile vit_b_16.onnx --set batch=8 --by module --format json -o vit_b_16.json\n\n"
      "The Python package adds: symprof run SCRIPT, which profiles a training script.");
  set_up(app);
  app.set_version_flag("--version", "symprof " SYMPROF_VERSION, "The version")->group("Output");
  Run chosen;
  for (const Command& command : commands) {
    CLI::App* added = app.add_subcommand(command.name);
    set_up(*added);
    added->parse_complete_callback([&chosen, run = command.add(*added)] { chosen = run; });
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForHelp&) {
    return print_help(app, stdout);
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return done;
  } catch (const CLI::ParseError& error) {
    explain(app, error);
  }
  check_leftovers_below(app);
  if (chosen) return chosen();
  return print_help(app, stderr);
}

void complain(const std::string& message) {
  fmt::print(stderr, "{}: {}\n",
             report::emphasize("symprof", report::Emphasis::strong, layout_of(Stream::error).color),
             has_plain_letters_only() ? report::in_plain_letters(message) : message);
}

/// "where: problem.", and the advice on the next line.
std::string message_of(const Error& error) {
  std::string text = error.summary(report::spell_as_option);
  if (!text.ends_with('.')) text += '.';
  const std::string advice = error.advice(report::spell_as_option);
  return advice.empty() ? text : text + "\n  " + advice;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    return run({argv, argv + argc});
  } catch (const Error& error) {
    complain(message_of(error));
    return error.kind() == ErrorKind::not_available ? not_available : bad_input;
  } catch (const std::bad_alloc&) {
    complain("this machine has not enough memory for that.");
    return not_available;
  } catch (const std::exception& error) {
    complain(
        fmt::format("{}\n  This is a mistake in symprof: please report it with the model's "
                    "graph (`symprof profile` never needs its weights).",
                    error.what()));
    return bad_input;
  }
}

}  // namespace symprof::cli
