#include "cli/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"

namespace symprof::cli {
namespace {

/// Where a message says that the mistake is: nothing for the program itself.
std::string command_of(const CLI::App& app) { return app.get_parent() ? app.get_name() : ""; }

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

/// The first that has more values than it may have; null without one.
const CLI::Option* repeated_option(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
        std::cmp_greater(option->count(), std::max(option->get_items_expected_max(), 1)))
      return option;
  return nullptr;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

[[noreturn]] void reject_leftover(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
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
  return parent ? parent->get_name() + " " + app.get_name() : app.get_name();
}

void reject(std::string_view option, const std::string& given,
            const std::vector<std::string>& accepted) {
  const std::string suggestion = did_you_mean(given, accepted);
  throw Error(std::string(option), fmt::format("'{}' is not known.", given),
              fmt::format("{}{}It may be: {}.", suggestion, suggestion.empty() ? "" : " ",
                          fmt::join(accepted, ", ")));
}

int parse_count(std::string_view option, const std::string& given, int least) {
  int value = 0;
  const char* end = given.data() + given.size();
  const auto [at, error] = std::from_chars(given.data(), end, value);
  if (error == std::errc() && at == end && value >= least) return value;
  if (error == std::errc::result_out_of_range && at == end && !given.starts_with('-'))
    throw Error(std::string(option), fmt::format("'{}' is too large.", given),
                fmt::format("The most is {}.", std::numeric_limits<int>::max()));
  throw Error(std::string(option),
              fmt::format("'{}' is not a whole number of at least {}.", given, least));
}

std::int64_t parse_bytes(std::string_view option, const std::string& given) {
  constexpr report::Named<double> units[] = {
      {"", 1},         {"B", 1},    {"KiB", 1024.0}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
      {"TiB", 0x1p40}, {"kB", 1e3}, {"MB", 1e6},     {"GB", 1e9},      {"TB", 1e12}};
  double number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(given.data() + given.size() - end));
  for (const report::Named<double>& known : units)
    if (error == std::errc() && known.name == unit && number >= 0 && number * known.value < 0x1p62)
      return static_cast<std::int64_t>(number * known.value);
  throw Error(std::string(option), fmt::format("'{}' is no number of bytes.", given),
              "Write 700MiB, 1.5GiB or 80GB.");
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    words.push_back(std::move(word));
    at = comma + 1;
  }
  return words;
}

void check_leftovers(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return;
  // The word after an unknown option may be its value: the option is what is wrong.
  for (const std::string& word : words)
    if (word.starts_with('-') && word != "--") reject_leftover(app, word);
  reject_leftover(app, words.front());
}

void explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* where = &app;
  for (const CLI::App* command : app.get_subcommands()) where = command;
  check_leftovers(*where);
  check_leftovers(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error))
    throw Error(command_of(*where), "MODEL is missing.",
                fmt::format("Name a model file (.pt2, .pt or .onnx). {}", see_help(*where)));
  const std::string found = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    if (const CLI::Option* repeated = repeated_option(*where))
      throw Error(command_of(*where), repeated->get_name() + " is given twice.", see_help(*where));
    // "--format: 1 required FORMAT missing": CLI11 names the option in its text alone.
    throw Error(command_of(*where), found.substr(0, found.find(':')) + " has no value.",
                see_help(*where));
  }
  throw Error(command_of(*where), found + ".", see_help(*where));
}

}  // namespace symprof::cli
