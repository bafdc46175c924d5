#include "engine/build_log.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace symprof::engine {
namespace {

constexpr std::size_t missing = std::string_view::npos;

/// "QuantizeLinear_150 into Conv_138", "(DequantizeLinear_61 and DequantizeLinear_64) into
/// Conv_65".
void add_absorbed(std::string_view line, std::vector<Fusion>& fusions) {
  const std::size_t into = line.find(" into ");
  if (into == missing) return;
  const std::string taker(trimmed(line.substr(into + 6)));
  std::string_view quantizers = line.substr(0, into);
  if (quantizers.starts_with('(') && quantizers.ends_with(')'))
    quantizers = quantizers.substr(1, quantizers.size() - 2);
  while (!quantizers.empty()) {
    constexpr std::string_view word = " and ";
    const std::size_t end = quantizers.find(word);
    fusions.push_back({.kind = Fusion::Kind::absorbed,
                       .quantizer = std::string(trimmed(quantizers.substr(0, end))),
                       .into = taker});
    if (end == missing) return;
    quantizers.remove_prefix(end + word.size());
  }
}

}  // namespace

void add_fusions(std::string_view line, std::vector<Fusion>& fusions) {
  constexpr std::string_view absorbing = ": fusing ", eliminating = "Eliminating ";
  if (line.starts_with(eliminating)) {
    const std::string_view rest = line.substr(eliminating.size());
    if (const std::size_t end = rest.find(" which duplicates "); end != missing)
      fusions.push_back({.kind = Fusion::Kind::eliminated,
                         .quantizer = std::string(trimmed(rest.substr(0, end)))});
  } else if (const std::size_t pass = line.find(absorbing); pass != missing) {
    add_absorbed(line.substr(pass + absorbing.size()), fusions);
  }
}

std::optional<std::string> version_in(std::string_view line) {
  constexpr std::string_view word = "[TensorRT v";
  const std::size_t at = line.find(word);
  if (at == missing) return std::nullopt;
  const std::string_view digits = line.substr(at + word.size());
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // NvInferVersion.h: major × 1000 + minor × 100 + patch up to 8, major × 10000 + minor × 100 +
  // patch from 10 on.
  const int per_major = number >= 100000 ? 10000 : 1000;
  if (number < 5000) return std::nullopt;
  return fmt::format("{}.{}.{}", number / per_major, number % per_major / 100, number % 100);
}

}  // namespace symprof::engine
