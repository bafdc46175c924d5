#include "trace/onnx/export_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "trace/graph/name_list.h"

namespace symprof::trace {
namespace {

/// Calls with a training argument: torch/_decomp and nn.functional.
struct ModeRow {
  std::string_view call;
  std::size_t position;
  std::string_view keyword;
};

constexpr std::array mode_rows = {
    ModeRow{"native_dropout", 2, "train"},
    ModeRow{"dropout", 2, "train"},
    ModeRow{"_native_batch_norm_legit_functional", 5, "training"},
    ModeRow{"batch_norm", 5, "training"},
    ModeRow{"native_batch_norm", 5, "training"},
};

ExportMode mode_of(const std::string& name, const ExportedCall& call) {
  if (is_call_of(name, "_native_batch_norm_legit_no_training")) return ExportMode::evaluation;
  for (const ModeRow& row : mode_rows) {
    if (!is_call_of(name, row.call)) continue;
    const std::string_view trains = call_argument(call, row.position, row.keyword);
    if (trains == "True") return ExportMode::training;
    if (trains == "False") return ExportMode::evaluation;
  }
  return ExportMode::unknown;
}

/// Smaller tables, relative to the parameters, are negligible.
constexpr std::int64_t smallest_share = 100;

std::string size_text(std::int64_t bytes) {
  constexpr double kibi = 1024;
  const auto size = static_cast<double>(bytes);
  return size < kibi * kibi ? fmt::format("{:.2f} KiB", size / kibi)
                            : fmt::format("{:.2f} MiB", size / (kibi * kibi));
}

bool is_table(const Value& value, const Signature& signature) {
  const bool trains = value.kind == ValueKind::parameter || value.kind == ValueKind::result;
  return !trains && is_floating_point(value.spec->dtype) && value.spec->sizes.size() > 1 &&
         !signature.kinds.contains(value.name);
}

void note_tables(Graph& graph, const Signature& signature,
                 const std::vector<ValueId>& initializers) {
  std::int64_t trained = 0, bytes = 0, count = 0;
  const Value* largest = nullptr;
  for (const ValueId id : initializers) {
    const Value& value = graph.value(id);
    if (value.kind == ValueKind::parameter) trained += value.spec->bytes();
    if (!is_table(value, signature)) continue;
    bytes += value.spec->bytes();
    ++count;
    if (largest == nullptr || largest->spec->bytes() < value.spec->bytes()) largest = &value;
  }
  if (largest == nullptr || bytes < trained / smallest_share) return;
  graph.warnings.push_back(fmt::format(
      "{} initializer{} that {} no name of the model ({}) {} taken as tables that are not trained; "
      "the largest is {}, {}.",
      count, count == 1 ? "" : "s", count == 1 ? "has" : "have", size_text(bytes),
      count == 1 ? "is" : "are", largest->name, to_string(*largest->spec)));
}

void note_merged(Graph& graph, const Signature& signature, const std::vector<ValueId>& initializers,
                 const NamedParameters& named) {
  std::vector<std::string> names;
  for (const std::string& path : named.merged)
    if (signature.kinds.at(path) == ValueKind::parameter) names.push_back(path);
  if (names.empty()) return;
  const std::unordered_set<std::string> merged(names.begin(), names.end());
  std::int64_t numbers = 0;
  for (const ValueId id : initializers)
    if (merged.contains(graph.value(id).name)) numbers += graph.value(id).spec->numel();
  graph.warnings.push_back(
      fmt::format("The exporter merged {} parameter{} ({} numbers) with equal ones: {}. They are "
                  "counted apart, as the model has them.",
                  names.size(), names.size() == 1 ? "" : "s", numbers, list_names(names)));
}

/// Weights with exporter-made names that no call's metadata explains.
std::size_t unexplained_weights(const Graph& graph, const Signature& signature,
                                const std::vector<ValueId>& initializers) {
  return static_cast<std::size_t>(std::ranges::count_if(initializers, [&](ValueId id) {
    const Value& value = graph.value(id);
    return value.kind == ValueKind::parameter && !signature.kinds.contains(value.name);
  }));
}

}  // namespace

void find_export_mode(Graph& graph, const ExportedCalls& exported) {
  ExportRecord& record = graph.export_record;
  for (const auto& [name, call] : exported) {
    record.names_calls = true;
    record.tells_arguments |= !call.target.empty();
    // A module frozen in evaluation mode may be in a model that trains.
    const ExportMode mode = mode_of(name, call);
    if (mode == ExportMode::training || record.mode == ExportMode::unknown) record.mode = mode;
  }
}

void note_parameters(Graph& graph, const Signature& signature,
                     const std::vector<ValueId>& initializers, const NamedParameters& named,
                     const std::vector<std::string>& missing) {
  note_merged(graph, signature, initializers, named);
  const bool explains = graph.export_record.tells_arguments;
  const std::size_t folded = unexplained_weights(graph, signature, initializers);
  // For tied weights, the signature has more names than the calls use.
  const bool folds_several = folded > 0 && missing.size() > folded;
  if (const auto& lost = named.lost.empty() && folds_several ? missing : named.lost;
      explains && !lost.empty())
    graph.warnings.push_back(fmt::format(
        "The exporter folded {} parameter{} of the model into other weights: {}. Export "
        "with torch.onnx.export(..., optimize=False) to have {}.",
        lost.size(), lost.size() == 1 ? "" : "s", list_names(lost),
        lost.size() == 1 ? "it" : "them"));
  if (!explains || !missing.empty()) note_tables(graph, signature, initializers);
}

}  // namespace symprof::trace
