#include "trace/torchscript/original_source.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include "base/text.h"

namespace symprof::trace::torchscript {
namespace {

/// File name of torch.fx's generated code (torch/fx/graph_module.py, _EvalCacheLoader).
constexpr std::string_view generated_file = "<eval_with_key>";

/// "forward" of `model.py(12): forward`.
std::optional<std::string> function_of(std::string_view line) {
  while (line.ends_with('\n')) line.remove_suffix(1);
  const std::size_t colon = line.rfind("): ");
  const std::size_t open = line.rfind('(', colon);
  if (colon == line.npos || open == line.npos || open + 1 == colon) return std::nullopt;
  if (!std::ranges::all_of(line.substr(open + 1, colon - open - 1), is_digit)) return std::nullopt;
  return std::string(line.substr(colon + 3));
}

}  // namespace

std::optional<OriginalSource> original_source(const torch::jit::Node& node) try {
  const auto range = node.sourceRange().findSourceRangeThatGenerated();
  if (!range || !range->source() || range->source()->size() == 0) return std::nullopt;
  const torch::jit::Source& source = *range->source();
  const std::size_t line =
      std::min(source.lineno_for_offset(range->start()), source.num_lines() - 1);
  const std::string innermost = source.get_line(0).str();
  return OriginalSource{.line = source.lineno_to_source_lineno(line),
                        .text = source.get_line(line).str(),
                        .function = function_of(innermost),
                        .is_generated = innermost.starts_with(generated_file)};
} catch (const std::exception&) {
  return std::nullopt;  // A damaged .debug_pkl, which is optional.
}

}  // namespace symprof::trace::torchscript
