// symprof plan: plans that make a step fit.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/plan_parallel.h"
#include "cli/progress.h"
#include "cli/setting_options.h"
#include "plan/checkpoint/answers.h"
#include "report/plan/checkpoint.h"
#include "report/plan/throughput.h"
#include "report/write/option_spelling.h"
#include "session/checkpoint_answer.h"
#include "session/read_text.h"
#include "session/session.h"
#include "session/throughput_answer.h"

namespace symprof::cli {
namespace plan_command {
namespace {

struct CheckpointText {
  SettingTexts model;
  std::string budget, format;
  std::vector<std::string> regions;
  bool offload = false, whole = false;
  OutputOptions output;
};

CheckpointQuestion question_of(const CheckpointText& text) {
  CheckpointQuestion question;
  if (!text.budget.empty())
    for (const std::string& budget : settings::split_list(text.budget))
      question.budgets.push_back(settings::parse_bytes(SettingRef{"budget"}, budget));
  for (const std::string& given : text.regions)
    for (std::string& pattern : settings::split_list(given))
      question.regions.push_back(std::move(pattern));
  if (!question.budgets.empty()) question.curve_points = 0;
  question.tries_expandable = true;
  question.offloads = text.offload;
  question.keeps_calls = !text.whole;
  return question;
}

int run_checkpoint(const CheckpointText& text) {
  Settings settings = read_settings(text.model);
  const Format format = read_format(Verb::plan_checkpoint, text.format);
  CheckpointQuestion question = question_of(text);
  if (format == Format::cpp) question.keeps_calls = false;
  question.joins_modules = format != Format::cpp && format != Format::python;
  check_output(text.output);
  ProgressBar progress(text.output);
  const CheckpointAnswer answer = Session(text.model.model).plan_checkpoint(settings, question);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_checkpoint_json(out, answer, report::spell_as_option);
  else if (format == Format::html)
    report::write_checkpoint_html(out, answer, report::spell_as_option);
  else if (format == Format::python)
    report::write_checkpoint_python(out, answer);
  else if (format == Format::cpp)
    report::write_checkpoint_cpp(out, answer);
  else
    report::write_checkpoint_plan(out, answer, layout_of(text.output));
  progress.clear();
  write_result(text.output, out, format);
  const bool all_found = std::ranges::all_of(
      answer.answers, [](const plan::PlanAnswer& one) { return one.best.has_value(); });
  return all_found ? done : answer_is_no;
}

Run add_checkpoint(CLI::App& app) {
  const auto text = std::make_shared<CheckpointText>();
  app.description("Which activations to keep and which to recompute, within a memory budget.");
  app.footer(
      "Exit code 0: there is a plan for every budget; 1: there is none.\n\n"
      "Examples:\n"
      "  symprof plan checkpoint gpt2.pt2 --optimizer adamw --budget 3GiB\n"
      "  symprof plan checkpoint llama_7b.pt2 --device h100\n"
      "  symprof plan checkpoint gpt2.pt2 --budget 3GiB --format json -o plan.json\n"
      "  symprof plan checkpoint gpt2.pt2 --budget 3GiB --format python -o plan.py");
  add_setting_options(app, text->model, Verb::plan_checkpoint);
  const OptionGroup group(app, "What is asked");
  group.add("--budget", text->budget, "BYTES",
            "Device memory that the process may use: 40GiB, or several with commas between; "
            "default: the device's memory, and a curve");
  group.add("--regions", text->regions, "GLOB",
            "Modules that may be recomputed, the outermost matches: 'layers.*'; default: the "
            "repeated modules");
  add_format_option(group, text->format, Verb::plan_checkpoint);
  group.add_flag("--offload", text->offload,
                 "Allow offloading checkpoint inputs and saved activations to host memory");
  group.add_flag("--whole", text->whole,
                 "No selective checkpointing: recompute whole modules only, as --format cpp does");
  add_output_options(app, text->output);
  return [text] { return run_checkpoint(*text); };
}

int run_throughput(const CheckpointText& text) {
  SettingTexts texts = text.model;
  ThroughputQuestion question{.devices = take_devices(texts), .regions = question_of(text).regions};
  if (!text.budget.empty())
    question.budget_bytes = settings::parse_bytes(SettingRef{"budget"}, text.budget);
  const Settings settings = read_settings(texts);
  const Format format = read_format(Verb::plan_throughput, text.format);
  check_output(text.output);
  const ThroughputAnswer answer = Session(texts.model).plan_throughput(settings, question);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_throughput_json(out, answer, report::spell_as_option);
  else
    report::write_throughput(out, answer, layout_of(text.output));
  write_result(text.output, out, format);
  const bool all_fit = std::ranges::all_of(
      answer.devices, [](const auto& device) { return device.fastest() != nullptr; });
  return all_fit ? done : answer_is_no;
}

Run add_throughput(CLI::App& app) {
  const auto text = std::make_shared<CheckpointText>();
  app.description("The batch size, and its checkpoint plan, with the most samples per second.");
  app.footer(
      "Exit code 0: some batch fits into every device; 1: none does.\n\n"
      "Examples:\n"
      "  symprof plan throughput gpt2.pt2 --optimizer adamw --device h200\n"
      "  symprof plan throughput gpt2.pt2 --device a100-40g,h100,h200 --budget 30GiB");
  add_setting_options(app, text->model, Verb::plan_throughput);
  app.get_option("--device")
      ->description("Names from `symprof devices` or device files (.json), with commas between");
  const OptionGroup group(app, "What is asked");
  group.add("--budget", text->budget, "BYTES",
            "Memory that the process may use on each device: 40GiB; default: the device's memory");
  group.add("--regions", text->regions, "GLOB",
            "Modules that may be recomputed, as in plan checkpoint");
  add_format_option(group, text->format, Verb::plan_throughput);
  add_output_options(app, text->output);
  return [text] { return run_throughput(*text); };
}

struct PlanKind {
  const char* name;
  Run (*add)(CLI::App& app);
};

constexpr PlanKind plan_kinds[] = {
    {"checkpoint", add_checkpoint}, {"throughput", add_throughput}, {"parallel", add_parallel}};

}  // namespace
}  // namespace plan_command

Run add_plan(CLI::App& app) {
  using namespace plan_command;
  app.description("How to make a step fit: recompute activations, or use several devices.");
  app.footer(
      "Examples:\n"
      "  symprof plan checkpoint gpt2.pt2 --optimizer adamw --budget 3GiB\n"
      "  symprof plan parallel llama_7b.pt2 --mesh 8 --device h100 --optimizer adamw");
  const auto chosen = std::make_shared<Run>();
  for (const PlanKind& kind : plan_kinds) {
    CLI::App* added = app.add_subcommand(kind.name);
    set_up(*added);
    added->parse_complete_callback([chosen, run = kind.add(*added)] { *chosen = run; });
  }
  return [chosen, &app] { return *chosen ? (*chosen)() : print_help(app, stderr); };
}

}  // namespace symprof::cli
