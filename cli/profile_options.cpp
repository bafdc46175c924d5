#include "cli/profile_options.h"

#include <filesystem>

#include "cli/install_paths.h"
#include "cli/usage.h"
#include "meta/error.h"
#include "meta/nearest.h"

namespace symprof::cli {
namespace {

using report::By;
using report::Column;
using report::Named;
using report::Unit;

constexpr Named<By> groupings[] = {{"node", By::node}, {"module", By::module}, {"op", By::op}};
constexpr Named<Unit> units[] = {{"flops", Unit::flops}, {"macs", Unit::macs}};
constexpr Named<ProfileFormat> formats[] = {
    {"table", ProfileFormat::table}, {"json", ProfileFormat::json}, {"csv", ProfileFormat::csv}};
constexpr Named<DType> autocast_dtypes[] = {{"bf16", DType::bfloat16},
                                            {"fp16", DType::float16},
                                            {"bfloat16", DType::bfloat16},
                                            {"float16", DType::float16}};
constexpr Named<DType> model_dtypes[] = {
    {"bf16", DType::bfloat16},   {"fp16", DType::float16},      {"fp32", DType::float32},
    {"fp64", DType::float64},    {"bfloat16", DType::bfloat16}, {"float16", DType::float16},
    {"float32", DType::float32}, {"float64", DType::float64}};

/// Whether sizes that depend on data are taken as their upper bounds.
constexpr Named<bool> unbacked_sizes[] = {{"refuse", false}, {"max", true}};

Column parse_column(std::string_view option, const std::string& word) {
  std::vector<std::string> accepted;
  for (const report::ColumnInfo& column : report::columns()) {
    if (column.key == word) return column.column;
    accepted.emplace_back(column.key);
  }
  reject(option, word, accepted);
}

std::vector<Column> parse_columns(const std::string& text) {
  if (text.empty()) return report::default_columns();
  std::vector<Column> columns;
  for (const std::string& word : split_list(text))
    columns.push_back(parse_column("--columns", word));
  return columns;
}

/// "adamw:fused": the variant is PyTorch's default, foreach, where it is left out.
void parse_optimizer(const std::string& text, StepOptions& step) {
  const std::size_t colon = text.find(':');
  step.optimizer = choose("--optimizer", text.substr(0, colon), report::optimizers);
  if (colon == std::string::npos) return;
  if (step.optimizer == Optimizer::none)
    throw Error("--optimizer", "'" + text + "' names a variant of no optimizer.",
                "Leave the variant out, or write adamw" + text.substr(colon) + ".");
  step.optimizer_variant =
      choose("--optimizer", text.substr(colon + 1), report::optimizer_variants);
}

/// The names of the files beside a missing one, for a suggestion.
std::vector<std::string> files_beside(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(path.has_parent_path() ? entry->path().string()
                                           : entry->path().filename().string());
  return names;
}

void require_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw Error(path, "is a folder.", "Name a model file (.pt2, .pt or .onnx).");
  if (std::filesystem::exists(path, error)) return;
  const std::string suggestion = did_you_mean(path, files_beside(path));
  throw Error(path, "there is no such file.",
              suggestion.empty() ? "Name a model file (.pt2, .pt or .onnx)." : suggestion);
}

StepOptions parse_step(const ProfileText& text) {
  StepOptions step;
  step.loss = choose("--loss", text.loss, report::losses);
  parse_optimizer(text.optimizer, step);
  if (!text.autocast.empty()) step.autocast = choose("--autocast", text.autocast, autocast_dtypes);
  step.split_bias = text.split_bias;
  step.upper_bounds = choose("--unbacked", text.unbacked, unbacked_sizes);
  step.attention = choose("--attention", text.attention, report::attention_backends);
  return step;
}

report::RowOptions parse_rows(const ProfileText& text) {
  report::RowOptions rows;
  if (!text.depth.empty()) rows.depth = parse_count("--depth", text.depth, 1);
  rows.by = rows.depth ? By::module : By::node;
  if (!text.by.empty()) rows.by = choose("--by", text.by, groupings);
  if (rows.depth && rows.by != By::module)
    throw Error("--depth", "it counts module levels, and --by " + text.by + " has none.",
                "Leave one of them out, or write --by module.");
  if (!text.sort.empty()) rows.sort = parse_column("--sort", text.sort);
  if (!text.top.empty()) rows.top = parse_count("--top", text.top, 1);
  rows.unit = choose("--unit", text.unit, units);
  return rows;
}

void add_step_options(CLI::App& app, ProfileText& text) {
  const std::string group = "What runs";
  app.add_option("--input", text.inputs, "Shape of an input: NAME=DTYPE[DIMS]; repeatable")
      ->allow_extra_args(false)
      ->type_name("SPEC")
      ->group(group);
  app.add_option("--set", text.bindings, "Size of a named dimension: batch=8; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=SIZE")
      ->group(group);
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--mode", text.mode, "MODE",
      "train, eval (no dropout, running statistics, still with gradients) or inference");
  add("--loss", text.loss, "LOSS",
      "ones (the default: gradients of the outputs are ones), sum, mean, cross_entropy or mse");
  add("--optimizer", text.optimizer, "NAME",
      "none, sgd, sgd_momentum, adam or adamw, with :foreach, :fused or :single behind it");
  add("--autocast", text.autocast, "DTYPE", "Run under autocast to bf16 or fp16");
  add("--dtype", text.dtype, "DTYPE", "Cast parameters and inputs: bf16, fp16, fp32 or fp64");
  add("--attention", text.attention, "KIND",
      "auto (as the device would choose), math, flash, efficient or cudnn");
  app.add_flag("--split-bias", text.split_bias,
               "Add biases in rows of their own, apart from the product or convolution")
      ->group(group);
  add("--unbacked", text.unbacked, "KIND",
      "Sizes that depend on data (nonzero): refuse (the default), or max, their upper bounds");
  add("--device", text.device, "DEVICE", "A name from `symprof devices`, or a device file (.json)");
}

void add_report_options(CLI::App& app, ProfileText& text) {
  const std::string group = "What is reported";
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--by", text.by, "ROW", "A row for each node (the default), module or op");
  add("--depth", text.depth, "N", "Fold modules deeper than N levels (--by module)");
  add("--sort", text.sort, "COLUMN", "Largest first; without it, in the order of execution");
  add("--top", text.top, "N", "The first N rows; one more sums the others");
  add("--columns", text.columns, "A,B,..", "Which columns, in which order (listed below)");
  add("--unit", text.unit, "UNIT", "flops (a multiply-add is 2) or macs (it is 1)");
  add("--format", text.format, "FORMAT", "table, json or csv");
}

}  // namespace

void add_profile_options(CLI::App& app, ProfileText& text) {
  app.add_option("MODEL", text.model,
                 "The model file: .pt2 (torch.export), .pt (TorchScript) or .onnx")
      ->required()
      ->type_name("");
  add_step_options(app, text);
  add_report_options(app, text);
  add_output_options(app, text.output);
}

ProfileOptions parse_profile_options(const ProfileText& text) {
  ProfileOptions options;
  for (const std::string& input : text.inputs)
    options.inputs.push_back(trace::parse_input_override(input));
  for (const std::string& binding : text.bindings)
    options.bindings.push_back(trace::parse_binding(binding));
  if (!text.mode.empty()) options.mode = choose("--mode", text.mode, report::modes);
  if (!text.dtype.empty()) options.dtype = choose("--dtype", text.dtype, model_dtypes);
  options.step = parse_step(text);
  options.rows = parse_rows(text);
  options.columns = parse_columns(text.columns);
  options.format = choose("--format", text.format, formats);
  options.output = text.output;
  check_output(options.output);
  options.step.device = find_device(text.device, devices_folder());
  require_file(text.model);
  options.model = text.model;
  return options;
}

}  // namespace symprof::cli
