#include "trace/python/dtypes/cast_lines.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/python/source/tokens.h"

namespace symprof::trace {
namespace {

constexpr std::array<std::string_view, 4> cast_ops = {"aten::to", "aten::_to_copy", "aten::type_as",
                                                      "prims::convert_element_type"};

std::string_view function_of(const Node& node) {
  const std::string_view op = node.op;
  return op.substr(op.rfind(':') + 1);
}

/// The line that calls a function of torch.nn.functional, whose own lines only forward the caller's
/// `dtype=dtype`.
const SourceLine& line_of_call(const Graph& graph, SourceId source) {
  const SourceLine* line = &graph.source_lines[static_cast<std::size_t>(source)];
  while (line->file.ends_with("torch/nn/functional.py") && line->caller != no_source)
    line = &graph.source_lines[static_cast<std::size_t>(line->caller)];
  return *line;
}

/// A literal of another dtype does not belong to this cast.
WrittenDType checked(const WrittenDType& written, DType dtype) {
  const bool is_other = written.source == DTypeSource::named && written.dtype != dtype;
  return is_other ? WrittenDType{} : written;
}

bool are_of_one_kind(const std::vector<WrittenDType>& written) {
  return std::ranges::all_of(
      written, [&](const WrittenDType& cast) { return cast.source == written[0].source; });
}

}  // namespace

bool is_recorded_cast(const Node& node) {
  return std::ranges::find(cast_ops, node.op) != cast_ops.end();
}

bool is_move(const Node& node) { return node.op == "aten::to" && node.overload == "dtype_layout"; }

bool makes_new_tensor(const Node& node) {
  bool takes_none = true;
  for_each_value(node, [&](ValueId id) { takes_none &= id == no_value; });
  return takes_none || node.op.starts_with("aten::new_") || node.op.ends_with("_like");
}

std::optional<DType> dtype_in_file(const Graph& graph, ValueId id) {
  if (id == no_value) return std::nullopt;
  const Value& value = graph.value(id);
  if (value.recorded_dtype) return value.recorded_dtype;
  return value.spec ? std::optional(value.spec->dtype) : std::nullopt;
}

WrittenDType CastLines::written(std::size_t index, DType dtype) {
  const Node& node = graph_.nodes[index];
  if (node.source == no_source) return {};
  const std::string_view line = graph_.source_lines[static_cast<std::size_t>(node.source)].text;
  if (is_recorded_cast(node)) return written_cast(index, line, dtype);
  return written_dtype(line_of_call(graph_, node.source).text, function_of(node));
}

const PythonRun& CastLines::run() {
  if (!run_.statement_of.empty()) return run_;
  run_ = rebuild_calls(graph_);
  casts_.resize(run_.statements.size());
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
    if (run_.statement_of[i] != no_index && is_recorded_cast(graph_.nodes[i]))
      casts_[run_.statement_of[i]].push_back(i);
  return run_;
}

/// Matches nodes to the casts of a line in order, if there are as many. If there are more nodes, a
/// function without lines may have made some, unless the line is a loop.
WrittenDType CastLines::written_cast(std::size_t index, std::string_view line, DType dtype) {
  const std::vector<WrittenDType> written = written_casts(line);
  if (written.empty()) return {};
  const std::vector<std::size_t>& made = beside(index);
  if (made.size() == written.size()) {
    const auto place = std::ranges::find(made, index) - made.begin();
    return checked(written[static_cast<std::size_t>(place)], dtype);
  }
  const bool may_repeat = made.size() < written.size() || has_comprehension(tokens_of(line));
  return may_repeat && are_of_one_kind(written) ? checked(written[0], dtype) : WrittenDType{};
}

}  // namespace symprof::trace
