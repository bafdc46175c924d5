#include "shape/batch/guesses.h"

#include <algorithm>

namespace symprof::shape {
namespace {

constexpr std::size_t most_choices = 24;

class Guesser {
 public:
  Guesser(const SizeList& list, const Batches& batches) : list_(list), batches_(batches) {}

  void add(const std::vector<std::size_t>& scaled, bool is_guess) {
    if (choices_.size() == most_choices) return;
    Choice choice{.sizes = list_.tried, .is_guess = is_guess};
    for (const std::size_t index : scaled) choice.sizes[index] *= batches_.factor;
    choices_.push_back(std::move(choice));
  }

  void add_each(const std::vector<std::size_t>& open, bool is_guess) {
    for (const std::size_t index : open) add({index}, is_guess);
  }

  void add_pairs(const std::vector<std::size_t>& open, bool is_guess) {
    for (std::size_t i = 0; i < open.size(); ++i)
      for (std::size_t j = i + 1; j < open.size(); ++j) add({open[i], open[j]}, is_guess);
  }

  std::vector<Choice> take() { return std::move(choices_); }

 private:
  const SizeList& list_;
  const Batches& batches_;
  std::vector<Choice> choices_;
};

}  // namespace

std::vector<Choice> guesses(const SizeList& list, std::span<const std::size_t> open,
                            bool none_first, const Batches& batches) {
  std::vector<std::size_t> whole, multiples;
  for (const std::size_t index : open) {
    if (!list.is_open(index) || list.file[index] <= 0 || list.file[index] % batches.file != 0)
      continue;
    (list.file[index] == batches.file ? whole : multiples).push_back(index);
  }
  Guesser guesser(list, batches);
  const bool is_guess = !whole.empty();
  const bool starts_with_none = none_first || whole.empty();
  if (starts_with_none) guesser.add({}, is_guess);
  guesser.add_each(whole, true);
  if (!starts_with_none) guesser.add({}, true);
  guesser.add_pairs(whole, true);
  guesser.add_each(multiples, false);
  std::vector<std::size_t> all = whole;
  all.insert(all.end(), multiples.begin(), multiples.end());
  if (!multiples.empty()) guesser.add_pairs(all, false);
  return guesser.take();
}

}  // namespace symprof::shape
