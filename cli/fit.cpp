// symprof fit: does a training loop fit into a device, with what margin, and what would make it
// fit.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/fitting.h"
#include "cli/install_paths.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "meta/error.h"
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

std::vector<Place> find_places(const FitText& text, const std::vector<std::string>& names) {
  std::vector<Place> places;
  for (const std::string& name : names) {
    const DeviceSpec device = find_device(name, devices_folder());
    places.push_back({device, read_budget(text, device)});
  }
  return places;
}

struct Answer {
  StepOptions step;
  std::vector<plan::FitReport> reports;
};

Answer fit_into(const std::vector<Place>& places, const ModelOptions& options,
                const std::string& dimension) {
  TorchLibrary torch;  // Starts while the file is read.
  SizedModel model(torch, options);
  const Graph graph = model.at({});
  Answer answer{.step = model.options().step};
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
  const std::vector<Place> places = find_places(text, names);
  if (text.largest == cache_dimension && !options.step.kv_cache) options.step.kv_cache = 1;
  check_output(text.output);
  take_model_file(text.model, options);
  ProgressBar progress(text.output);
  options.step.progress = progress.callback();
  const Answer answer = fit_into(places, options, text.largest);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_fit_json(out, answer.reports, answer.step);
  else
    report::write_fit(out, answer.reports, answer.step, layout_of(text.output));
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
      "  symprof fit resnet50.onnx --set batch=64 --max batch\n"
      "  symprof fit gpt2.pt2 --device a100-40g,h200,l40s\n"
      "  symprof fit llama.pt2 --optimizer adamw --alloc-conf expandable_segments:True");
  add_model_options(app, text->model);
  app.get_option("--device")
      ->description(
          "Names from `symprof devices` or device files (.json), with commas between; or all");
  const std::string group = "What is asked";
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--max", text->largest, "NAME",
      "The largest size of this dimension (as --set names it, or kv-cache) that fits");
  add("--context", text->context, "BYTES",
      "What CUDA's context and other programs hold: 700MiB (1GiB is set aside without it)");
  add("--format", text->format, "FORMAT", "table or json");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
