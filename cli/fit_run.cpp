#include "cli/fit_run.h"

#include <utility>

#include "base/error.h"
#include "cli/progress.h"
#include "report/plan/run_fit.h"
#include "report/write/option_spelling.h"
#include "session/read_lengths.h"
#include "session/read_text.h"
#include "session/run_fit.h"

namespace symprof::cli {
namespace {

constexpr std::string_view tokens = "tokens", samples = "samples";

plan::BatchRule read_rule(const RunText& text) {
  plan::BatchRule rule;
  if (!text.batch_by.empty()) settings::read_batch_by(rule, text.batch_by);
  if (!text.bucket.empty())
    rule.bucket = settings::parse_amount(SettingRef{"bucket", text.bucket}, text.bucket);
  if (!text.pad_to_multiple.empty())
    rule.pad_to = settings::parse_amount(SettingRef{"pad_to_multiple", text.pad_to_multiple},
                                         text.pad_to_multiple);
  if (!text.shuffle_seed.empty())
    rule.shuffle_seed = static_cast<std::uint64_t>(
        settings::parse_count(SettingRef{"shuffle_seed", text.shuffle_seed}, text.shuffle_seed, 0));
  return rule;
}

/// Throws Error where --max names something else than what the batches are cut by.
bool read_largest(const std::string& largest, const plan::BatchRule& rule) {
  if (largest.empty()) return false;
  const std::string_view counted = rule.limit == plan::BatchLimit::tokens ? tokens : samples;
  if (largest != counted)
    throw Error(
        SettingRef{"max", largest}, "the batches of this run are cut by another size.",
        fmt::format("Write {}, or another {}.", setting("max", counted), setting("batch_by")));
  return true;
}

RunQuestion read_question(const RunText& text, const std::string& largest) {
  RunQuestion question{.data = settings::read_lengths(text.lengths), .rule = read_rule(text)};
  if (question.data.shapes.empty() && text.batch_by.empty())
    throw Error(SettingRef{"lengths", text.lengths}, "nothing says how samples become batches.",
                fmt::format("Add {}, or {}.", setting("batch_by", "tokens=8192"),
                            setting("batch_by", "samples=4")));
  question.wants_largest = read_largest(largest, question.rule);
  if (!text.batch_dim.empty()) question.batch_dim = text.batch_dim;
  if (!text.length_dim.empty()) question.length_dim = text.length_dim;
  if (!text.shuffles.empty())
    question.shuffles =
        settings::parse_count(SettingRef{"shuffles", text.shuffles}, text.shuffles, 1);
  question.tries_settings = !text.without_trials;
  for (const std::string& given : text.between) question.between.push_back(read_between(given));
  return question;
}

}  // namespace

void add_run_options(CLI::App& app, RunText& text) {
  const OptionGroup group(app, "A run whose batches differ");
  group.add("--lengths", text.lengths, "FILE",
            "Lengths of the samples (.csv, .json, .npy), a histogram of them, or the shapes of all "
            "batches; or lognormal:median=200,sigma=0.7,max=1024,count=2000");
  group.add("--batch-by", text.batch_by, "SIZE",
            "tokens=8192 (with padding) or samples=4: when a batch is full");
  group.add("--bucket", text.bucket, "N",
            "Only samples of the same N lengths (1 to N, N+1 to 2N, ...) are batched together");
  group.add("--pad-to-multiple", text.pad_to_multiple, "N",
            "Batches are padded to a multiple of N");
  group.add("--shuffle-seed", text.shuffle_seed, "N", "The samples are shuffled first");
  group.add("--shuffles", text.shuffles, "N",
            "How many of N shuffled epochs do not fit (seeds 1 to N)");
  group.add_each("--between", text.between, "EVAL",
                 "An evaluation between updates: eval@500:batch=16,seq=512 after each 500");
  group.add_flag("--no-trials", text.without_trials,
                 "Do not run it with other settings of the allocator, each of which takes as long");
  group.add("--batch-dim", text.batch_dim, "NAME",
            "The dimension of a batch's samples, as --set names it (default: batch)");
  group.add("--length-dim", text.length_dim, "NAME",
            "The dimension of the length (default: seq); several with commas between");
}

void refuse_run_options(const RunText& text) {
  const std::pair<const char*, bool> given[] = {
      {"--batch-by", !text.batch_by.empty()},
      {"--bucket", !text.bucket.empty()},
      {"--pad-to-multiple", !text.pad_to_multiple.empty()},
      {"--shuffle-seed", !text.shuffle_seed.empty()},
      {"--shuffles", !text.shuffles.empty()},
      {"--between", !text.between.empty()},
      {"--no-trials", text.without_trials},
      {"--batch-dim", !text.batch_dim.empty()},
      {"--length-dim", !text.length_dim.empty()}};
  for (const auto& [option, is_given] : given)
    if (is_given)
      throw Error(option, "is about a run whose batches differ.", "Add --lengths FILE.");
}

ExitCode fit_run(Session& session, const Settings& settings, const RunText& text,
                 const std::string& largest, Format format, const OutputOptions& output) {
  RunQuestion question = read_question(text, largest);
  ProgressBar progress(output);
  question.progress = progress.callback();
  const RunFit found = symprof::fit_run(session, settings, question);
  progress.clear();
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_run_fit_json(out, found, question, report::spell_as_option);
  else if (format == Format::csv)
    report::write_run_fit_csv(out, found);
  else
    report::write_run_fit(out, found, question, layout_of(output));
  write_result(output, out, format);
  return found.fits() ? done : answer_is_no;
}

}  // namespace symprof::cli
