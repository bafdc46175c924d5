#include "trace/exported/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "trace/exported/archive.h"
#include "trace/exported/graph_reader.h"
#include "trace/exported/inner_tensors.h"
#include "trace/exported/listed_parameters.h"
#include "trace/exported/payload.h"
#include "trace/exported/program_path.h"
#include "trace/exported/signature.h"

namespace symprof::trace {
namespace {

using namespace exported;

static_assert(Record::padding >= simdjson::SIMDJSON_PADDING);

/// SCHEMA_VERSION in torch/_export/serde/schema.py; 4 is that of PyTorch 2.3.
constexpr std::int64_t newest_schema = 8, oldest_schema = 4;
/// Earlier schemas write parameters without requires_grad.
constexpr std::int64_t first_schema_with_gradients = 8;
constexpr std::string_view models_folder = "models/", json_suffix = ".json";
/// The program in an archive of PyTorch 2.7 or earlier.
constexpr std::string_view old_program = "serialized_exported_program.json";
constexpr std::string_view old_state = "serialized_state_dict.pt";

[[noreturn]] void refuse_archive(const Archive& archive) {
  for (const std::string& record : archive.records())
    if (record.find("aotinductor/") != std::string::npos)
      throw Error(
          archive.path(),
          "is a package of AOTInductor: compiled kernels, without the graph that they are of",
          "Profile the program that torch._inductor.aoti_compile_and_package took: write it "
          "with torch.export.save.");
  throw Error(archive.path(), "has no models/*.json record: it is no exported program",
              "symprof reads .pt2 files that torch.export.save wrote.");
}

/// The model called `wanted`; else the archive's only one, or torch.export.save's default name
/// "model". Empty for an archive of the old layout.
std::string model_name(const Archive& archive, const std::string& wanted) {
  std::vector<std::string> names;
  for (const std::string& record : archive.records())
    if (record.starts_with(models_folder) && record.ends_with(json_suffix))
      names.push_back(record.substr(models_folder.size(),
                                    record.size() - models_folder.size() - json_suffix.size()));
  if (std::ranges::find(names, wanted) != names.end()) return wanted;
  if (!names.empty() && !wanted.empty())
    throw Error(archive.path(), fmt::format("has no model called '{}'", wanted),
                fmt::format("It has {}.", fmt::join(names, ", ")));
  if (names.size() == 1) return names[0];
  for (const std::string& name : names)
    if (name == "model") return name;
  if (!names.empty())
    throw Error(archive.path(), fmt::format("has several models: {}", fmt::join(names, ", ")),
                fmt::format("Choose one: {}:{}.", archive.path(), names[0]));
  if (archive.contains(old_program)) return {};
  refuse_archive(archive);
}

std::int64_t schema_major(Json program, const Place& place) {
  return integer(member(member(program, "schema_version", place), "major", place), place);
}

void check_version(Json program, const Place& place) {
  const Json version = member(program, "schema_version", place);
  const std::int64_t major = schema_major(program, place);
  const std::int64_t minor = integer(member(version, "minor", place), place);
  if (major >= oldest_schema && major <= newest_schema) return;
  fail(place,
       fmt::format("has schema version {}.{}; versions {} to {} are known", major, minor,
                   oldest_schema, newest_schema),
       major > newest_schema
           ? "The file is newer than this symprof: update it, or export the model "
             "with PyTorch 2.13."
           : "Export the model again with PyTorch 2.3 or later.");
}

/// The old layout stores weights in one pickle, which alone shows tied weights. Its size shows if
/// there are any.
void warn_of_tied_weights(Graph& graph, const Archive& archive) {
  const auto available = archive.size_of(old_state);
  std::int64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.spec && (value.kind == ValueKind::parameter || value.kind == ValueKind::buffer))
      bytes += value.spec->bytes();
  if (!available || *available >= bytes) return;
  graph.warnings.emplace_back(
      "Some weights share their memory, and a file of PyTorch 2.7 or earlier does not say which: "
      "they are counted as if each had its own. Export the model again to see them tied.");
}

/// Keys are symbols and, for derived dimensions, expressions: "s77", "3*s77".
std::vector<SymbolRange> symbol_ranges(Json program, const Place& place) {
  std::vector<SymbolRange> ranges;
  const auto constraints = optional_member(program, "range_constraints");
  if (!constraints) return ranges;
  for (const auto [symbol, limits] : object(*constraints, place)) {
    SymbolRange range{std::string(symbol)};
    if (const auto least = optional_member(limits, "min_val")) range.least = integer(*least, place);
    if (const auto most = optional_member(limits, "max_val")) range.most = integer(*most, place);
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace

Graph load_exported(const std::string& path) {
  const auto [file, program_name] = program_path(path);
  const Archive archive(file);
  const std::string model = model_name(archive, program_name);
  const bool is_old = model.empty();
  const std::string record_name =
      is_old ? std::string(old_program) : fmt::format("{}{}{}", models_folder, model, json_suffix);
  const Place place{archive.path(), record_name};

  simdjson::dom::parser parser;
  const Payloads weights = read_payloads(archive, "weights", model, parser);
  const Payloads constants = read_payloads(archive, "constants", model, parser);

  const Record record = archive.read(record_name);
  const Json program = parse(parser, record.bytes.get(), record.size, place);
  check_version(program, place);
  const Json module = member(program, "graph_module", place);
  ReadGraph read = read_graph(member(module, "graph", place), place);
  const Json signature = member(module, "signature", place);
  apply_inputs(read, signature, archive, weights, constants, place);
  apply_outputs(read, signature, place);
  read_inner_tensors(read.graph);
  read_listed_parameters(read.graph);

  Graph graph = std::move(read.graph);
  graph.path = path;
  graph.format = "exported";
  graph.traits = exported_traits;
  graph.symbol_ranges = symbol_ranges(program, place);
  if (is_old) warn_of_tied_weights(graph, archive);
  if (schema_major(program, place) < first_schema_with_gradients)
    for (Value& value : graph.values) value.requires_grad = value.kind == ValueKind::parameter;
  if (const auto version = optional_member(program, "torch_version"))
    graph.producer = fmt::format("pytorch {}", text(*version, place));
  return graph;
}

std::map<std::string, std::shared_ptr<const ConstantTensor>> load_exported_weights(
    const std::string& path) {
  const auto [file, program_name] = program_path(path);
  const Archive archive(file);
  const std::string model = model_name(archive, program_name);
  std::map<std::string, std::shared_ptr<const ConstantTensor>> weights;
  if (model.empty()) return weights;
  for (const char* folder : {"weights", "constants"}) {
    simdjson::dom::parser parser;
    const Payloads payloads = read_payloads(archive, folder, model, parser);
    const auto shared = shared_storages(archive, payloads);
    std::map<std::string, int> readers;
    for (const auto& [name, payload] : payloads) ++readers[payload.record];
    for (const auto& [name, payload] : payloads) {
      // Tensors without data share one record, which has no tensor's data.
      if (readers[payload.record] > 1 && !shared.contains(name)) continue;
      if (auto constant = read_constant(archive, payload)) weights[name] = std::move(constant);
    }
  }
  return weights;
}

}  // namespace symprof::trace
