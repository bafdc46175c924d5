// symprof fit: does a training loop fit into a device, with what margin, and what would make it
// fit.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/fitting.h"
#include "cli/install_paths.h"
#include "cli/option_spelling.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "report/fit.h"

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
  std::string largest, format = "table";
  OutputOptions output;
};

plan::Budget budget_of(const DeviceSpec& device, const profile::LoopOptions& loop) {
  if (device.memory_bytes == 0)
    throw Error(device.name, "this device's file does not say how much memory it has.",
                "Give it \"memory_bytes\", or choose a device that has it: symprof devices.");
  const plan::Budget budget{.device_bytes = device.memory_bytes,
                            .context_bytes = device.context_bytes.value_or(context_allowance_bytes),
                            .is_context_given = device.context_bytes.has_value(),
                            .fraction = loop.allocator.per_process_memory_fraction};
  if (budget.available_bytes() <= 0)
    throw Error("--context", "leaves nothing of the device's memory.", "Give a smaller one.");
  return budget;
}

/// "a100-40g,h200", or "all" that are shipped.
std::vector<std::string> device_names(const std::string& text) {
  if (text != "all") return split_list(text);
  std::vector<std::string> names;
  for (const DeviceSpec& device : shipped_devices(devices_folder())) names.push_back(device.name);
  return names;
}

/// A device and what of it there is for tensors.
struct Place {
  DeviceSpec device;
  plan::Budget budget;
};

std::vector<Place> find_places(const std::vector<std::string>& names, const ModelOptions& options) {
  std::vector<Place> places;
  for (const std::string& name : names) {
    DeviceSpec device = find_device(name, devices_folder());
    if (options.context_bytes) device.context_bytes = options.context_bytes;
    places.push_back({device, budget_of(device, options.loop)});
  }
  return places;
}

struct Answer {
  StepOptions step;
  report::RunOptions asked;
  std::vector<plan::FitReport> reports;
};

Answer fit_into(const std::vector<Place>& places, const ModelOptions& options,
                const std::string& dimension) {
  TorchLibrary torch;  // Starts while the file is read.
  SizedModel model(torch, options);
  const Graph graph = graph_to_fit(model, dimension);
  Answer answer{.step = model.options().step, .asked = options.asked};
  for (const Place& place : places)
    answer.reports.push_back(
        Fitting(torch, model, graph, place.device, place.budget).run(dimension));
  return answer;
}

int run(const FitText& text) {
  const std::vector<std::string> names = device_names(text.model.device);
  ModelText on_first = text.model;
  on_first.device = names.front();
  ModelOptions options = parse_model_options(on_first);
  const Format format = choose("--format", text.format, formats);
  const std::vector<Place> places = find_places(names, options);
  if (text.largest == cache_dimension && !options.step.kv_cache) options.step.kv_cache = 1;
  check_output(text.output);
  take_model_file(text.model, options);
  ProgressBar progress(text.output);
  options.step.progress = progress.callback();
  const Answer answer = fit_into(places, options, text.largest);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_fit_json(out, answer.reports, answer.step, answer.asked, spell_as_option);
  else
    report::write_fit(out, answer.reports, answer.step, layout_of(text.output));
  progress.clear();
  write_output(text.output, {out.data(), out.size()});
  const bool fits_all = std::ranges::all_of(
      answer.reports, [](const plan::FitReport& report) { return report.fit.fits(); });
  return fits_all ? done : answer_is_no;
}

}  // namespace

Run add_fit(CLI::App& app) {
  const auto text = std::make_shared<FitText>();
  app.description("Does a training loop fit into a device, and with what margin.");
  app.footer(
      "Exit code 0: it fits into every device that was named; 1: it does not.\n\n"
      "Examples:\n"
      "  symprof fit gpt2.pt2 --optimizer adamw --device a100-40g\n"
      "  symprof fit vit_b_16.onnx --set batch=64 --max batch\n"
      "  symprof fit gpt2.pt2 --device a100-40g,h200,l40s\n"
      "  symprof fit llama_7b.pt2 --optimizer adamw --alloc-conf expandable_segments:True");
  add_model_options(app, text->model);
  app.get_option("--device")
      ->description(
          "Names from `symprof devices` or device files (.json), with commas between; or all");
  app.get_option("--context")
      ->description(
          "What CUDA's context and other programs hold on the device: 700MiB; else 1GiB is set "
          "aside");
  const std::string group = "What is asked";
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--max", text->largest, "NAME",
      "The largest size of this dimension (as --set names it, or kv-cache) that fits");
  add("--format", text->format, "FORMAT", "table or json");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
