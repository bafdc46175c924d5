#include "trace/onnx/exported_call.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace symprof::trace {
namespace {

constexpr std::string_view call_key = "pkg.torch.onnx.fx_node";
/// Names of onnxscript's rewrite rules, separated by commas (onnxscript/rewriter/_rewrite_rule.py).
constexpr std::string_view rules_key = "pkg.onnxscript.rewriter.rule_name";
constexpr std::string_view folding_rule = "FuseBatchNormInto";

/// Decompositions of nn.BatchNorm in torch.onnx, in training and in evaluation.
constexpr std::array<std::string_view, 4> batch_norms = {"_native_batch_norm_legit_functional",
                                                         "_native_batch_norm_legit_no_training",
                                                         "batch_norm", "native_batch_norm"};

/// The items up to the closing bracket; `text` begins after the opening one.
std::vector<std::string_view> bracketed_items(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote != 0) {
      if (letter == '\\') ++i;
      if (letter == quote) quote = 0;
      continue;
    }
    const bool closes = letter == ')' || letter == ']' || letter == '}';
    if (letter == '\'' || letter == '"') quote = letter;
    if ((letter == ',' || closes) && depth == 0) {
      if (const auto item = trimmed(text.substr(begin, i - begin)); !item.empty())
        items.push_back(item);
      begin = i + 1;
      if (closes) return items;
    }
    depth += letter == '(' || letter == '[' || letter == '{' ? 1 : closes ? -1 : 0;
  }
  return items;
}

/// The text after `marker`; empty without it.
std::string_view after(std::string_view text, std::string_view marker) {
  const auto found = text.find(marker);
  return found == text.npos ? std::string_view{} : text.substr(found + marker.size());
}

int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

ExportedCall parse_exported_call(std::string_view text) {
  ExportedCall call;
  std::string_view target = after(text, "call_function[target=");
  target = target.substr(0, target.find(']'));
  constexpr std::string_view module = "torch.ops.";
  if (target.starts_with(module)) target.remove_prefix(module.size());
  call.target = target;
  for (const std::string_view item : bracketed_items(after(text, "](args = (")))
    call.arguments.emplace_back(item);
  for (const std::string_view item : bracketed_items(after(text, "), kwargs = {"))) {
    const auto colon = item.find(": ");
    if (colon != item.npos)
      call.keywords.emplace_back(item.substr(0, colon), trimmed(item.substr(colon + 2)));
  }
  return call;
}

void note_exported_call(const onnx::NodeProto& node, const std::string& name,
                        ExportedCalls& calls) {
  if (name.empty()) return;
  const auto [found, is_new] = calls.try_emplace(name);
  for (const onnx::StringStringEntryProto& entry : node.metadata_props()) {
    if (is_new && entry.key() == call_key) {
      const int folded = found->second.folded_norms;
      found->second = parse_exported_call(entry.value());
      found->second.folded_norms = folded;
    }
    if (entry.key() == rules_key)
      found->second.folded_norms =
          std::max(found->second.folded_norms, count_of(entry.value(), folding_rule));
  }
}

std::string_view call_argument(const ExportedCall& call, std::size_t position,
                               std::string_view keyword) {
  if (position < call.arguments.size()) return call.arguments[position];
  const auto found =
      std::ranges::find(call.keywords, keyword, &std::pair<std::string, std::string>::first);
  return found == call.keywords.end() ? std::string_view{} : found->second;
}

std::vector<std::string> mentioned_names(const ExportedCall& call) {
  std::vector<std::string> names;
  const auto read = [&](std::string_view text) {
    for (auto sign = text.find('%'); sign != text.npos; sign = text.find('%', sign + 1)) {
      const auto end = text.find_first_of(", )]}", sign);
      names.emplace_back(text.substr(sign + 1, end == text.npos ? end : end - sign - 1));
    }
  };
  for (const std::string& argument : call.arguments) read(argument);
  for (const auto& keyword : call.keywords) read(keyword.second);
  return names;
}

bool is_call_of(std::string_view call, std::string_view name) {
  if (!call.starts_with(name)) return false;
  call.remove_prefix(name.size());
  return call.empty() || (call.size() > 1 && call.front() == '_' &&
                          call.find_first_not_of("0123456789", 1) == call.npos);
}

bool is_batch_norm(std::string_view call) {
  return std::ranges::any_of(batch_norms,
                             [&](std::string_view name) { return is_call_of(call, name); });
}

}  // namespace symprof::trace
