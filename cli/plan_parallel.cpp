// symprof plan parallel: how to spread a training step over several devices.
#include "cli/plan_parallel.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/formats.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/setting_options.h"
#include "report/plan/parallel_plan.h"
#include "report/write/option_spelling.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace plan_parallel_command {
namespace {

struct ParallelText {
  SettingTexts model;
  std::string layout, format;
  std::optional<std::int64_t> global_batch;
  std::vector<std::string> blocks;
  OutputOptions output;
};

ParallelQuestion question_of(const ParallelText& text, const Settings& settings) {
  if (!settings.mesh)
    throw Error(SettingRef{"mesh"}, "there are no devices to plan for.",
                "Give nodes and devices of each: 2x8; or 8 for one node.");
  ParallelQuestion question{.mesh = *settings.mesh};
  question.global_batch = text.global_batch;
  for (const std::string& given : text.blocks)
    for (std::string& pattern : settings::split_list(given))
      question.blocks.push_back(std::move(pattern));
  question.wanted = plan::parse_layout(text.layout);
  return question;
}

int run_parallel(const ParallelText& text) {
  const Settings settings = read_settings(text.model);
  const Format format = read_format(Verb::plan_parallel, text.format);
  const ParallelQuestion question = question_of(text, settings);
  check_output(text.output);
  Session session(text.model.model);
  const ParallelAnswer answer = plan_parallel(session, settings, question);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_parallel_json(out, answer, report::spell_as_option);
  else if (format == Format::python)
    report::write_parallel_python(out, answer);
  else
    report::write_parallel_plan(out, answer, layout_of(text.output));
  write_result(text.output, out, format);
  return answer.plan.best ? done : answer_is_no;
}

}  // namespace
}  // namespace plan_parallel_command

Run add_parallel(CLI::App& app) {
  using namespace plan_parallel_command;
  const auto text = std::make_shared<ParallelText>();
  app.description("How to spread a training step over several devices.");
  app.footer(
      "Exit code 0: a layout fits; 1: none does.\n\n"
      "Examples:\n"
      "  symprof plan parallel llama_7b.pt2 --mesh 8 --device h100 --optimizer adamw\n"
      "  symprof plan parallel llama_7b.pt2 --mesh 2x8 --global-batch 64 --layout tp=8\n"
      "  symprof plan parallel llama_7b.pt2 --mesh 8 --format python -o plan.py");
  add_setting_options(app, text->model, Verb::plan_parallel);
  const OptionGroup group(app, "What is asked");
  group.add("--global-batch", text->global_batch, "N",
            "Samples per step over all devices; default: the model's batch on each");
  group.add("--layout", text->layout, "LAYOUT",
            "Evaluate only these layouts: 'fsdp=8 tp=2:sp pp=2:1f1b:mb=8', or a part of it");
  group.add(
      "--blocks", text->blocks, "GLOB",
      "Modules that are units of FSDP and pipelines: 'layers.*'; default: the repeated modules");
  add_format_option(group, text->format, Verb::plan_parallel);
  add_output_options(app, text->output);
  return [text] { return run_parallel(*text); };
}

}  // namespace symprof::cli
