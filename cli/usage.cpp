#include "cli/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "report/write/option_spelling.h"
#include "session/setting_table.h"

namespace symprof::cli {
namespace {

/// The command that a message is about; empty for the program itself.
std::string command_of(const CLI::App& app) {
  if (!app.get_parent()) return "";
  const std::string outer = command_of(*app.get_parent());
  return outer.empty() ? app.get_name() : outer + " " + app.get_name();
}

std::string see_help(const CLI::App& app) {
  return fmt::format("See {} --help.", command_line(app));
}

std::string advice(const std::string& suggestion, const CLI::App& app) {
  return suggestion.empty() ? see_help(app) : suggestion + " " + see_help(app);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The first option with more values than it takes; null without one.
const CLI::Option* repeated_option(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (std::cmp_greater(option->count(), std::max(option->get_items_expected_max(), 1)))
      return option;
  return nullptr;
}

/// The first missing argument.
std::string missing_argument(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() && option->count() == 0) return option->get_name();
  return "An argument";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

constexpr auto from_python =
    "It comes with the Python package: make wheel, then pip install build/wheels/symprof-*.whl";

/// Commands of the Python package, which has a program of the same name.
void reject_script(const std::string& word) {
  if (word == "run")
    throw Error(word, "runs Python scripts, which this program does not.", from_python);
  if (word.ends_with(".py"))
    throw Error(word, "is a Python script, not a command.",
                fmt::format("symprof run {} runs it. {}", word, from_python));
}

/// A command that runs the step of a model has a device.
bool takes_settings(const CLI::App& app) { return app.get_option_no_throw("--loss") != nullptr; }

/// A setting that this command does not obey is no misspelling: which ones do.
void reject_setting(const CLI::App& app, const std::string& option) {
  for (const settings::Setting& setting : settings::table()) {
    if (report::spell_as_option({std::string(setting.name)}) != option) continue;
    std::vector<std::string_view> verbs;
    for (const Verb verb : {Verb::profile, Verb::fit, Verb::plan_checkpoint, Verb::measure})
      if (setting.verbs.contains(verb)) verbs.push_back(name(verb));
    throw Error(command_of(app), fmt::format("{} changes nothing here.", option),
                fmt::format("It is for symprof {}. {}", fmt::join(verbs, ", "), see_help(app)));
  }
}

[[noreturn]] void reject_leftover(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
    if (name == "--compile")
      throw Error(command_of(app), "--compile runs PyTorch's compiler, in Python.", from_python);
    if (name == "--trust-code")
      throw Error(command_of(app), "--trust-code runs Python code, in Python.", from_python);
    if (takes_settings(app)) reject_setting(app, name);
    throw Error(command_of(app), fmt::format("unknown option {}.", name),
                advice(did_you_mean(name, option_names(app)), app));
  }
  const std::vector<std::string> commands = command_names(app);
  if (!commands.empty())
    throw Error(command_of(app), fmt::format("unknown command '{}'.", word),
                advice(did_you_mean(word, commands), app));
  throw Error(command_of(app), fmt::format("'{}' is one argument too many.", word), see_help(app));
}

}  // namespace

std::string command_line(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? command_line(*parent) + " " + app.get_name() : app.get_name();
}

const CLI::App& innermost_command(const CLI::App& app) {
  const CLI::App* where = &app;
  while (!where->get_subcommands().empty()) where = where->get_subcommands().back();
  return *where;
}

void check_leftovers(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  std::erase(words, "--");  // It ends the options, and is none itself.
  if (words.empty()) return;
  if (!command_names(app).empty()) reject_script(words.front());
  // The word after an unknown option may be its value: the option is the error.
  for (const std::string& word : words)
    if (word.starts_with('-')) reject_leftover(app, word);
  reject_leftover(app, words.front());
}

void check_leftovers_below(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) check_leftovers_below(*command);
  check_leftovers(app);
}

void explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* where = &innermost_command(app);
  check_leftovers_below(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error)) {
    const std::string missing = missing_argument(*where);
    throw Error(command_of(*where), missing + " is missing.",
                missing == "MODEL"
                    ? fmt::format("Name a model file (.pt2, .pt or .onnx). {}", see_help(*where))
                    : see_help(*where));
  }
  const std::string found = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    if (const CLI::Option* repeated = repeated_option(*where))
      throw Error(command_of(*where), repeated->get_name() + " is given twice.", see_help(*where));
    // "--format: 1 required FORMAT missing": CLI11 names the option only in its text.
    throw Error(command_of(*where), found.substr(0, found.find(':')) + " has no value.",
                see_help(*where));
  }
  throw Error(command_of(*where), found + ".", see_help(*where));
}

}  // namespace symprof::cli
