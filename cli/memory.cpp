// symprof memory: the memory that a run held, from a memory snapshot.
#include <charconv>
#include <memory>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/option_group.h"
#include "cli/output.h"
#include "report/memory/comparison.h"
#include "report/memory/html.h"
#include "report/memory/memory.h"
#include "session/memory_snapshot.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace memory_command {
namespace {

constexpr settings::Named<report::MemoryRows> row_names[] = {
    {"line", report::MemoryRows::line}, {"module", report::MemoryRows::module}};

struct Options {
  OutputOptions output;
  std::string path;
  std::vector<std::string> other;  ///< The arguments after "--".
  std::string most_growth, device, by = "line", top = "20", format;
};

/// 0.02 of "2%" and of "2".
double parse_growth(const std::string& text) {
  const std::string number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  double percent = -1;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (code != std::errc() || end != number.data() + number.size() || !(percent >= 0))
    throw Error("--fail-if-peak-grows", "'" + text + "' is no percentage.", "Write 2% or 0.5%.");
  return percent / 100;
}

/// Throws Error for options that need two snapshots, and for more than two.
void check_sides(const Options& options) {
  if (options.other.empty() && !options.most_growth.empty())
    throw Error("--fail-if-peak-grows", "there is only one snapshot.",
                "Name the other one: symprof memory BEFORE -- AFTER.");
  if (options.other.size() > 1)
    throw Error("memory", "behind -- stands the other snapshot, and nothing else.",
                "Write all options before it.");
}

int run_two(const Options& options, Format format, const report::MemoryRowOptions& rows,
            std::optional<std::int64_t> device) {
  if (format == Format::html)
    throw Error("--format", "a comparison has no html.", "Write --format table, json or csv.");
  const std::optional<double> most =
      options.most_growth.empty() ? std::nullopt : std::optional(parse_growth(options.most_growth));
  const SnapshotComparison both = compare_memory(options.path, options.other.front(), device);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_memory_comparison_json(out, both);
  else if (format == Format::csv)
    report::write_memory_comparison_csv(out, both, rows);
  else
    report::write_memory_comparison(out, both, rows, layout_of(options.output));
  write_result(options.output, out, format);
  return most && both.growth() > *most ? answer_is_no : done;
}

int run(const Options& options) {
  const Format format = read_format(Verb::memory, options.format);
  const report::MemoryRowOptions rows{
      .by = settings::choose(SettingRef{"by"}, options.by, row_names),
      .top = settings::parse_count(SettingRef{"top"}, options.top, 1)};
  std::optional<std::int64_t> device;
  if (!options.device.empty())
    device = settings::parse_count(SettingRef{"device"}, options.device, 0);
  check_sides(options);
  check_output(options.output);
  if (!options.other.empty()) return run_two(options, format, rows, device);
  const SnapshotAnswer answer = read_memory(options.path, device);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_memory_json(out, answer);
  else if (format == Format::csv)
    report::write_memory_csv(out, answer, rows);
  else if (format == Format::html)
    report::write_memory_html(out, answer, rows);
  else
    report::write_memory(out, answer, rows, layout_of(options.output));
  write_result(options.output, out, format);
  return done;
}

void add_memory_options(CLI::App& app, Options& options) {
  app.get_formatter()->label("Positionals", "Snapshot");
  app.add_option("SNAPSHOT", options.path, "The file, plain or gzip")->type_name("")->required();
  app.add_option("OTHER", options.other, "After --: the snapshot to compare with")
      ->type_name("")
      ->expected(1, 5);
  const OptionGroup reported(app, "What is reported");
  reported.add("--by", options.by, "ROW",
               "A row for each line of the program (the default) or module");
  reported.add("--top", options.top, "N", "The N largest rows (20)");
  reported.add("--device", options.device, "N",
               "The GPU's number (default: the one with the most events)");
  reported.add("--fail-if-peak-grows", options.most_growth, "PERCENT",
               "Exit code 1 if the allocated peak of OTHER is larger by more than this: 2%");
  add_format_option({app, "Output"}, options.format, Verb::memory);
  add_output_options(app, options.output);
}

}  // namespace
}  // namespace memory_command

Run add_memory(CLI::App& app) {
  using namespace memory_command;
  const auto options = std::make_shared<Options>();
  app.description(
      "The memory that a run held: owners of the peak, leaks, fragmentation; or two runs.");
  app.footer(
      "SNAPSHOT is a file of torch.cuda.memory._dump_snapshot.\n\n"
      "Examples:\n"
      "  symprof memory snapshot.pickle\n"
      "  symprof memory snapshot.pickle --by module --format json\n"
      "  symprof memory --fail-if-peak-grows 2% before.pickle -- after.pickle");
  add_memory_options(app, *options);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
