#include "snapshot/sequences.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>

namespace symprof::snapshot {
namespace {

using Symbol = std::uint32_t;
using Symbols = std::span<const Symbol>;

std::vector<Symbol> reversed(Symbols symbols) { return {symbols.rbegin(), symbols.rend()}; }

/// The distances of all beginnings of `rows` from what was added so far: a column of the matrix, 64
/// rows a word, as differences of neighbors (G. Myers, "A fast bit-vector algorithm for approximate
/// string matching", 1999; with the horizontal differences of H. Hyyrö, 2003).
class Column {
 public:
  /// `top` is the difference in the row above the first: 1 counts all that is added, 0 lets `rows`
  /// begin anywhere.
  Column(Symbols rows, int top)
      : size_(rows.size()),
        words_((size_ + 63) / 64),
        top_(top),
        last_(static_cast<std::int64_t>(size_)),
        equal_(words_, 0),
        more_(words_, ~std::uint64_t{0}),
        less_(words_, 0) {
    rows_.reserve(size_);
    for (const Symbol symbol : rows)
      rows_.push_back({symbol, static_cast<std::uint32_t>(rows_.size())});
    std::ranges::sort(rows_);
  }

  void add(Symbol symbol) {
    first_ += top_;
    const auto begin = std::ranges::lower_bound(rows_, SymbolRow{symbol, 0});
    auto end = begin;
    for (; end != rows_.end() && end->symbol == symbol; ++end)
      equal_[end->row / 64] |= std::uint64_t{1} << end->row % 64;
    int step = top_;
    for (std::size_t word = 0; word < words_; ++word) step = add_word(word, equal_[word], step);
    for (auto at = begin; at != end; ++at) equal_[at->row / 64] = 0;
    if (words_ == 0) last_ += top_;
  }

  /// The distance of all rows.
  std::int64_t last() const { return last_; }

  /// The distances of 0, 1, … rows.
  std::vector<std::int64_t> distances() const {
    std::vector<std::int64_t> found{first_};
    for (std::size_t row = 0; row < size_; ++row)
      found.push_back(found.back() + bit(more_[row / 64], row % 64) -
                      bit(less_[row / 64], row % 64));
    return found;
  }

 private:
  struct SymbolRow {
    Symbol symbol = 0;
    std::uint32_t row = 0;
    auto operator<=>(const SymbolRow&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  static std::int64_t bit(std::uint64_t word, std::size_t at) {
    return static_cast<std::int64_t>(word >> at & 1);
  }

  /// `step` is the difference to the column before in the row above the word; returns the one in
  /// its last row.
  int add_word(std::size_t word, std::uint64_t equal, int step) {
    const std::uint64_t more = more_[word], less = less_[word];
    const std::uint64_t is_less = step < 0 ? 1 : 0, is_more = step > 0 ? 1 : 0;
    const std::uint64_t vertical = equal | less;
    equal |= is_less;
    const std::uint64_t horizontal = (((equal & more) + more) ^ more) | equal;
    std::uint64_t grows = less | ~(horizontal | more);
    std::uint64_t shrinks = more & horizontal;
    if (word + 1 == words_) {
      const std::size_t row = (size_ - 1) % 64;
      last_ += bit(grows, row) - bit(shrinks, row);
    }
    const auto out = static_cast<int>(bit(grows, 63) - bit(shrinks, 63));
    grows = grows << 1 | is_more;
    shrinks = shrinks << 1 | is_less;
    more_[word] = shrinks | ~(vertical | grows);
    less_[word] = grows & vertical;
    return out;
  }

  std::size_t size_, words_;
  int top_;
  std::int64_t first_ = 0, last_ = 0;
  std::vector<SymbolRow> rows_;
  std::vector<std::uint64_t> equal_;        // Rows that are the symbol which is added.
  std::vector<std::uint64_t> more_, less_;  // Rows whose distance is one more, one less.
};

/// Splits both sequences until they are short (D. Hirschberg, 1975), so that memory stays small.
class Aligner {
 public:
  explicit Aligner(std::vector<ElementPair>& pairs) : pairs_(pairs) {}

  void align(Symbols first, Symbols second) {
    while (!first.empty() && !second.empty() && first.front() == second.front()) {
      add_pair();
      first = first.subspan(1), second = second.subspan(1);
    }
    std::size_t equal = 0;
    while (equal < std::min(first.size(), second.size()) &&
           first[first.size() - 1 - equal] == second[second.size() - 1 - equal])
      ++equal;
    align_middle(first.first(first.size() - equal), second.first(second.size() - equal));
    for (std::size_t i = 0; i < equal; ++i) add_pair();
  }

 private:
  void add_pair() { pairs_.push_back({first_++, second_++}); }
  void add_first() { pairs_.push_back({first_++, no_element}); }
  void add_second() { pairs_.push_back({no_element, second_++}); }

  void align_middle(Symbols first, Symbols second) {
    constexpr std::size_t most_cells = 16'384;
    if (first.empty() || second.size() <= 1 || first.size() * second.size() <= most_cells)
      return align_short(first, second);
    const std::size_t half = second.size() / 2;
    Column before(first, 1), behind(reversed(first), 1);
    for (const Symbol symbol : second.first(half)) before.add(symbol);
    for (const Symbol symbol : reversed(second.subspan(half))) behind.add(symbol);
    const std::vector<std::int64_t> left = before.distances(), right = behind.distances();
    std::size_t best = 0;
    for (std::size_t i = 0; i <= first.size(); ++i)
      if (left[i] + right[first.size() - i] < left[best] + right[first.size() - best]) best = i;
    align(first.first(best), second.first(half));
    align(first.subspan(best), second.subspan(half));
  }

  /// By the matrix of the costs of all ends: the distance, and where that is equal the elements
  /// that are replaced.
  void align_short(Symbols first, Symbols second) {
    constexpr std::uint32_t alone = 1024, replaced = alone + 1;
    const std::size_t width = second.size() + 1;
    std::vector<std::uint32_t> cost((first.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
      return cost[i * width + j];
    };
    const auto paired = [&](std::size_t i, std::size_t j) {
      return at(i + 1, j + 1) + (first[i] == second[j] ? 0 : replaced);
    };
    for (std::size_t i = first.size() + 1; i-- > 0;)
      for (std::size_t j = width; j-- > 0;) {
        if (i == first.size() || j == second.size())
          at(i, j) = alone * static_cast<std::uint32_t>(first.size() - i + second.size() - j);
        else
          at(i, j) = std::min({paired(i, j), at(i + 1, j) + alone, at(i, j + 1) + alone});
      }
    std::size_t i = 0, j = 0;
    while (i < first.size() && j < second.size()) {
      if (at(i, j) == paired(i, j))
        add_pair(), ++i, ++j;
      else if (at(i, j) == at(i + 1, j) + alone)
        add_first(), ++i;
      else
        add_second(), ++j;
    }
    for (; i < first.size(); ++i) add_first();
    for (; j < second.size(); ++j) add_second();
  }

  std::vector<ElementPair>& pairs_;
  std::uint32_t first_ = 0, second_ = 0;
};

/// Both sequences, each distinct number a symbol.
struct Numbered {
  std::vector<Symbol> first, second;

  Numbered(std::span<const std::int64_t> one, std::span<const std::int64_t> other) {
    std::vector<std::int64_t> values(one.begin(), one.end());
    values.insert(values.end(), other.begin(), other.end());
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const auto number = [&](std::int64_t value) {
      return static_cast<Symbol>(std::ranges::lower_bound(values, value) - values.begin());
    };
    std::ranges::transform(one, std::back_inserter(first), number);
    std::ranges::transform(other, std::back_inserter(second), number);
  }
};

}  // namespace

Stretch nearest_stretch(std::span<const std::int64_t> part, std::span<const std::int64_t> whole) {
  const Numbered numbered(part, whole);
  Column anywhere(numbered.first, 0);
  std::int64_t least = anywhere.last();
  Stretch found;
  for (std::size_t i = 0; i < numbered.second.size(); ++i) {
    anywhere.add(numbered.second[i]);
    if (anywhere.last() <= least) least = anywhere.last(), found.end = i + 1;
  }
  Column back(reversed(numbered.first), 1);
  found.begin = found.end;
  const std::size_t longest =
      std::min(found.end, part.size() + static_cast<std::size_t>(least));  // Longer is farther.
  for (std::size_t size = 1; size <= longest; ++size) {
    back.add(numbered.second[found.end - size]);
    if (back.last() == least) found.begin = found.end - size;
  }
  return found;
}

std::vector<ElementPair> align_sequences(std::span<const std::int64_t> first,
                                         std::span<const std::int64_t> second) {
  const Numbered numbered(first, second);
  std::vector<ElementPair> pairs;
  pairs.reserve(std::max(first.size(), second.size()));
  Aligner(pairs).align(numbered.first, numbered.second);
  return pairs;
}

}  // namespace symprof::snapshot
