#include "base/nearest.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace symprof {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Optimal string alignment distance, three rows at a time.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const bool same = lower(from[i - 1]) == lower(to[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(from[i - 1]) == lower(to[j - 2]) &&
                           lower(from[i - 2]) == lower(to[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

bool begins(std::string_view word, std::string_view candidate) {
  return word.size() >= 2 && word.size() < candidate.size() &&
         std::equal(word.begin(), word.end(), candidate.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  const std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  std::optional<std::string> best;
  std::size_t fewest = allowed + 1;
  for (const std::string& candidate : candidates) {
    // Skips candidates whose length differs by too much: a large graph has many names.
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    const bool prefix = begins(word, candidate);
    if (!prefix && longer - shorter >= fewest) continue;
    const std::size_t distance = prefix ? 1 : edits(word, candidate);
    if (distance >= fewest) continue;
    fewest = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t most_named = 4;
  const std::optional<std::string> best = nearest(word, candidates);
  if (!best) return {};
  std::vector<std::string> meant;
  std::ranges::copy_if(candidates, std::back_inserter(meant),
                       [&](const std::string& candidate) { return begins(word, candidate); });
  if (!begins(word, *best) || meant.size() > most_named) meant = {*best};
  std::string text = "Did you mean '" + meant.front();
  for (std::size_t i = 1; i < meant.size(); ++i)
    text += (i + 1 < meant.size() ? "', '" : "' or '") + meant[i];
  return text + "'?";
}

}  // namespace symprof
