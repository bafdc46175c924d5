// symprof fit: does a training loop fit into a device, with what margin, and what would make it
// fit.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "meta/error.h"
#include "plan/fit.h"
#include "report/fit.h"
#include "trace/passes/module_patterns.h"

namespace symprof::cli {
namespace {

using profile::operator""_MiB;

/// What stands aside for CUDA's context where the user does not say: more than the 426 to 640 MiB
/// that people report for a process with PyTorch's kernels loaded. No device file has measured it.
constexpr std::int64_t context_allowance_bytes = 1024_MiB;

enum class Format { table, json };
constexpr report::Named<Format> formats[] = {{"table", Format::table}, {"json", Format::json}};

struct FitText {
  ModelText model;
  std::string largest, context, format = "table";
  OutputOptions output;
};

plan::Budget read_budget(const FitText& text, const DeviceSpec& device) {
  if (device.memory_bytes == 0)
    throw Error(device.name, "this device's file does not say how much memory it has.",
                "Give it \"memory_bytes\", or choose a device that has it: symprof devices.");
  plan::Budget budget{.device_bytes = device.memory_bytes,
                      .context_bytes = context_allowance_bytes};
  if (!text.context.empty()) {
    budget.context_bytes = parse_bytes("--context", text.context);
    budget.is_context_given = true;
  }
  if (budget.available_bytes() <= 0)
    throw Error("--context", "leaves nothing of the device's memory.", "Give a smaller one.");
  return budget;
}

/// Runs the model in different ways and asks the allocator each time.
class Fitting {
 public:
  Fitting(ModelOptions options, const plan::Budget& budget)
      : options_(std::move(options)), budget_(budget) {}

  plan::FitReport run(const std::string& dimension) {
    recording_ = record(options_);
    plan::FitReport report{.budget = budget_, .fit = fit(recording_, options_.loop)};
    if (!dimension.empty()) find_largest(dimension, report);
    if (!report.fit.fits()) add_changes(report);
    return report;
  }

  const Recording& recording() const { return recording_; }
  const ModelOptions& options() const { return options_; }

 private:
  Recording record(ModelOptions& options) {
    return torch_.get().propagate(load_model(torch_, options), options.step);
  }

  plan::Fit fit(const Recording& recording, const profile::LoopOptions& loop) const {
    return plan::fit(recording, options_.step.device, budget_, loop);
  }

  Recording record_at(const std::string& dimension, std::int64_t size) {
    ModelOptions sized = options_;
    std::erase_if(sized.bindings, [&](const auto& binding) { return binding.first == dimension; });
    sized.bindings.emplace_back(dimension, size);
    return record(sized);
  }

  void find_largest(const std::string& dimension, plan::FitReport& report) {
    report.dimension = dimension;
    const auto given = std::ranges::find(options_.bindings, dimension,
                                         &std::pair<std::string, std::int64_t>::first);
    const std::int64_t start = given == options_.bindings.end() ? 1 : given->second;
    const auto is_small_enough = [&](std::int64_t size) {
      return plan::fits(record_at(dimension, size), options_.step.device, budget_, options_.loop);
    };
    report.largest = plan::find_largest_size(start, range_end(dimension), is_small_enough);
    if (report.largest->fits)
      report.at_largest = fit(record_at(dimension, *report.largest->fits), options_.loop);
  }

  /// The most that the file says the graph was exported for.
  std::optional<std::int64_t> range_end(const std::string& dimension) {
    ModelOptions options = options_;
    const Graph graph = load_model(torch_, options);
    for (const SymbolRange& range : graph.symbol_ranges)
      if (range.symbol == dimension) return range.most;
    return std::nullopt;
  }

  std::vector<std::string> repeated_modules() {
    ModelOptions options = options_;
    return trace::repeated_modules(load_model(torch_, options));
  }

  /// True when it saves memory; what does not is no answer.
  bool add_change(plan::FitReport& report, std::string text, ModelOptions changed) {
    const plan::Fit there = fit(record(changed), changed.loop);
    if (there.wanted.peak_reserved_bytes >= report.fit.wanted.peak_reserved_bytes) return false;
    report.changes.push_back({std::move(text), there});
    return true;
  }

  /// From what changes nothing but the allocator to what changes the numbers.
  void add_changes(plan::FitReport& report) {
    ModelOptions all = options_;
    std::string all_text;
    int count = 0;
    const auto add = [&](const std::string& text, const auto& apply) {
      ModelOptions changed = options_;
      apply(changed);
      if (!add_change(report, text, std::move(changed))) return;
      apply(all);
      all_text += (all_text.empty() ? "" : " ") + text;
      ++count;
    };
    if (!options_.loop.allocator.expandable_segments)
      add("--alloc-conf expandable_segments:True",
          [](ModelOptions& options) { options.loop.allocator.expandable_segments = true; });
    const StepOptions& step = options_.step;
    if (has_variant(step.optimizer, OptimizerVariant::fused) &&
        variant_of(step) != OptimizerVariant::fused)
      add(fmt::format("--optimizer {}:fused", report::name_of(report::optimizers, step.optimizer)),
          [](ModelOptions& options) { options.step.optimizer_variant = OptimizerVariant::fused; });
    if (!step.autocast && !options_.dtype)
      add("--autocast bf16",
          [](ModelOptions& options) { options.step.autocast = DType::bfloat16; });
    if (step.checkpoint.empty())
      if (const std::vector<std::string> patterns = repeated_modules(); !patterns.empty())
        add("--checkpoint " + patterns[0],  // The modules with the most nodes.
            [&](ModelOptions& options) { options.step.checkpoint = {patterns[0]}; });
    if (step.mode != Mode::inference && step.offload_saved.empty())
      add("--offload-saved '*'", [](ModelOptions& options) { options.step.offload_saved = {"*"}; });
    if (count > 1) add_change(report, all_text, all);
    if (!options_.dtype) {
      ModelOptions half = options_;
      half.dtype = DType::bfloat16;
      add_change(report, "--dtype bf16", std::move(half));
    }
    std::ranges::stable_sort(report.changes, {}, [](const plan::Change& change) {
      return change.fit.wanted.peak_reserved_bytes;
    });
  }

  ModelOptions options_;
  plan::Budget budget_;
  TorchLibrary torch_;
  Recording recording_;
};

int run(const FitText& text) {
  ModelOptions options = parse_model_options(text.model);
  const Format format = choose("--format", text.format, formats);
  const plan::Budget budget = read_budget(text, options.step.device);
  check_output(text.output);
  take_model_file(text.model, options);
  ProgressBar progress(text.output);
  options.step.progress = progress.callback();

  Fitting fitting(std::move(options), budget);
  const plan::FitReport report = fitting.run(text.largest);
  fmt::memory_buffer out;
  const StepOptions& step = fitting.options().step;
  if (format == Format::json)
    report::write_fit_json(out, report, fitting.recording(), step);
  else
    report::write_fit(out, report, fitting.recording(), step, layout_of(text.output));
  write_output(text.output, {out.data(), out.size()});
  return report.fit.fits() ? done : answer_is_no;
}

}  // namespace

Run add_fit(CLI::App& app) {
  const auto text = std::make_shared<FitText>();
  app.description("Does a training loop fit into a device, and with what margin.");
  app.footer(
      "Exit code 0: it fits; 1: it does not.\n\n"
      "Examples:\n"
      "  symprof fit gpt2.pt2 --optimizer adamw --device a100-40g\n"
      "  symprof fit resnet50.onnx --set batch=64 --max batch\n"
      "  symprof fit llama.pt2 --optimizer adamw --alloc-conf expandable_segments:True");
  add_model_options(app, text->model);
  const std::string group = "What is asked";
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--max", text->largest, "NAME",
      "The largest size of this dimension (as --set names it) that fits");
  add("--context", text->context, "BYTES",
      "What CUDA's context and other programs hold: 700MiB (1GiB is set aside without it)");
  add("--format", text->format, "FORMAT", "table or json");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
