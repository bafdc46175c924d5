#include "engine/names.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace symprof::engine {
namespace {

constexpr std::size_t absent = std::string_view::npos;

/// Removes "12" and the `separator` before it from the end of `text`; empty if there is no number.
std::optional<int> last_number(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.rfind(separator);
  if (at == absent) return std::nullopt;
  int value = 0;
  const std::string_view digits = text.substr(at + separator.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  text = text.substr(0, at);
  return value;
}

/// Splits `text` at `separators` outside brackets; at all of them if brackets do not match, as in
/// some names.
std::vector<std::string_view> split_outside(std::string_view text,
                                            std::initializer_list<std::string_view> separators) {
  const auto split = [&](bool heeds_brackets) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      depth += text[at] == '(' || text[at] == '[' || text[at] == '{';
      depth -= text[at] == ')' || text[at] == ']' || text[at] == '}';
      if (heeds_brackets && depth > 0) continue;
      for (const std::string_view separator : separators)
        if (text.substr(at).starts_with(separator)) {
          parts.push_back(text.substr(begin, at - begin));
          begin = at + separator.size();
          at = begin - 1;
          break;
        }
    }
    parts.push_back(text.substr(begin));
    if (depth != 0 && heeds_brackets) parts.clear();
    return parts;
  };
  std::vector<std::string_view> parts = split(true);
  return parts.empty() ? split(false) : parts;
}

/// Prefixes of helper layers before their node's name: importerUtils.cpp of onnx-tensorrt, and
/// MatMul and Gemm converted to convolutions.
constexpr std::string_view helper_words[] = {
    "reshape_before_",       "reshape_after_",    "squeeze_after_",  "copied_squeeze_after_",
    "unsqueeze_node_after_", "transpose_before_", "transpose_after_"};

NameTerm term_of(std::string_view text) {
  for (const std::string_view word : helper_words)
    if (text.starts_with(word))
      return {NameTerm::Kind::helper, term_of(text.substr(word.size())).text};
  if (text.starts_with("(Unnamed Layer") || text.starts_with("ONNXTRT_"))
    return {NameTerm::Kind::unnamed, std::string(text)};
  // TensorRT 7's name of a quantizer, and a copy that the optimizer made.
  constexpr std::string_view scale = "_quantize_scale_node", clone = "_clone_";
  if (text.ends_with(scale)) text.remove_suffix(scale.size());
  if (const std::size_t at = text.rfind(clone); at != absent && at > 0) {
    std::string_view rest = text;
    if (last_number(rest, "_")) return {NameTerm::Kind::node, std::string(text.substr(0, at))};
  }
  return {NameTerm::Kind::node, std::string(text)};
}

constexpr int deepest_name = 64;

void add_terms(std::string_view text, std::vector<NameTerm>& terms, int depth) {
  for (const std::string_view part : split_outside(text, {" + ", " || "})) {
    const std::string_view word = trimmed(part);
    const bool is_pointwise =
        (word.starts_with("PWN(") || word.starts_with("fusedPointwiseNode(")) &&
        word.ends_with(')');
    if (!is_pointwise || depth > deepest_name) {
      if (!word.empty()) terms.push_back(term_of(word));
      continue;
    }
    const std::size_t open = word.find('(') + 1;
    for (const std::string_view inside :
         split_outside(word.substr(open, word.size() - open - 1), {", "}))
      add_terms(inside, terms, depth + 1);
  }
}

}  // namespace

std::pair<std::string_view, std::optional<KernelNumber>> split_kernel_number(
    std::string_view name) {
  std::string_view rest = name;
  const std::optional<int> kernel = last_number(rest, "_");
  const std::optional<int> region = kernel ? last_number(rest, "_myl") : std::nullopt;
  if (!region) return {name, std::nullopt};
  return {rest, KernelNumber{*region, *kernel}};
}

std::optional<ReformatName> reformat_name(std::string_view name) {
  for (const bool is_input : {true, false}) {
    const std::string_view word = is_input ? "Reformatting CopyNode for Input Tensor "
                                           : "Reformatting CopyNode for Output Tensor ";
    if (name.starts_with(word)) {
      const std::string_view rest = name.substr(word.size());
      const std::size_t to = rest.find(" to ");
      if (to == absent) return std::nullopt;
      ReformatName found{.is_input = is_input, .layer = std::string(rest.substr(to + 4))};
      std::from_chars(rest.data(), rest.data() + to, found.tensor);
      return found;
    }
    const std::string_view old = is_input ? " input reformatter " : " output reformatter ";
    if (const std::size_t at = name.rfind(old); at != absent && at > 0) {
      ReformatName found{.is_input = is_input, .layer = std::string(name.substr(0, at))};
      const std::string_view digits = name.substr(at + old.size());
      std::from_chars(digits.data(), digits.data() + digits.size(), found.tensor);
      return found;
    }
  }
  return std::nullopt;
}

std::optional<RegionName> region_name(std::string_view name) {
  constexpr std::string_view word = "{ForeignNode[";
  const std::size_t begin = name.find(word), dots = name.find("...", begin == absent ? 0 : begin);
  if (begin == absent) return std::nullopt;
  const std::size_t first = begin + word.size(), end = name.rfind("]}");
  if (end == absent || end < first) return std::nullopt;
  if (dots == absent || dots > end)
    return RegionName{std::string(name.substr(first, end - first)), {}};
  return RegionName{std::string(name.substr(first, dots - first)),
                    std::string(name.substr(dots + 3, end - dots - 3))};
}

std::vector<NameTerm> name_terms(std::string_view name) {
  std::vector<NameTerm> terms;
  const auto [base, number] = split_kernel_number(name);
  if (base.starts_with("__my") || region_name(base)) return terms;
  if (!number) {
    add_terms(base, terms, 0);
    return terms;
  }
  // Merged products join their names with a plus without blanks.
  for (const std::string_view part : split_outside(base, {"+"})) {
    if (!trimmed(part).empty()) terms.push_back(term_of(trimmed(part)));
  }
  return terms;
}

std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool has_number = last != absent && last > 0 && last + 1 < name.size();
  return has_number && name[last] == '_' ? name.substr(0, last) : std::string_view();
}

std::string myelin_spelling(std::string_view node) {
  std::string text(node);
  std::ranges::replace(text, '.', '_');
  return text;
}

}  // namespace symprof::engine
