#include "engine/build_log.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "engine/log_lines.h"

namespace symprof::engine {
namespace {

constexpr std::size_t missing = std::string_view::npos;

/// Adds the fusion of "first<word>second", where `line` holds `word`.
bool add_pair(std::string_view line, std::string_view word, Fusion fusion,
              std::vector<Fusion>& fusions) {
  const std::size_t at = line.find(word);
  if (at == missing) return false;
  fusion.first = trimmed(line.substr(0, at));
  fusion.second = trimmed(line.substr(at + word.size()));
  fusions.push_back(std::move(fusion));
  return true;
}

/// "QuantizeLinear_150 into Conv_138", "(DequantizeLinear_61 and DequantizeLinear_64) into
/// Conv_65".
void add_absorbed(std::string_view line, const Fusion& form, std::vector<Fusion>& fusions) {
  const std::size_t into = line.find(" into ");
  if (into == missing) return;
  std::string_view quantizers = line.substr(0, into);
  if (quantizers.starts_with('(') && quantizers.ends_with(')'))
    quantizers = quantizers.substr(1, quantizers.size() - 2);
  while (!quantizers.empty()) {
    constexpr std::string_view word = " and ";
    const std::size_t end = quantizers.find(word);
    Fusion fusion = form;
    fusion.first = trimmed(quantizers.substr(0, end));
    fusion.second = trimmed(line.substr(into + 6));
    fusions.push_back(std::move(fusion));
    if (end == missing) return;
    quantizers.remove_prefix(end + word.size());
  }
}

}  // namespace

void add_fusions(std::string_view line, std::size_t number, std::vector<Fusion>& fusions) {
  using Kind = Fusion::Kind;
  constexpr std::string_view fusing = ": Fusing ", absorbing = ": fusing ", swapping = "Swapping ",
                             eliminating = "Eliminating ", removing = "Removing ";
  Fusion fusion{.line = number};
  if (line.starts_with(swapping)) {
    fusion.kind = Kind::swapped;
    add_pair(line.substr(swapping.size()), " with ", fusion, fusions);
  } else if (line.starts_with(eliminating)) {
    fusion.kind = Kind::eliminated;
    if (!add_pair(line.substr(eliminating.size()), " which duplicates (Q) ", fusion, fusions))
      add_pair(line.substr(eliminating.size()), " which duplicates ", fusion, fusions);
  } else if (line.starts_with(removing)) {
    fusion.kind = Kind::removed;
    fusion.first = trimmed(line.substr(removing.size()));
    fusions.push_back(std::move(fusion));
  } else if (const std::size_t pass = line.find(fusing); pass != missing) {
    fusion.pass = line.substr(0, pass);
    add_pair(line.substr(pass + fusing.size()), " with ", fusion, fusions);
  } else if (const std::size_t taker = line.find(absorbing); taker != missing) {
    fusion.kind = Kind::absorbed;
    fusion.pass = line.substr(0, taker);
    add_absorbed(line.substr(taker + absorbing.size()), fusion, fusions);
  }
}

std::vector<Fusion> fusions_in(std::string_view log) {
  std::vector<Fusion> fusions;
  for_each_line(log, [&](std::string_view line, std::size_t number) {
    add_fusions(without_log_prefix(line), number, fusions);
  });
  return fusions;
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
