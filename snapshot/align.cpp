#include "snapshot/align.h"

#include <algorithm>
#include <map>

namespace symprof::snapshot {
namespace {

/// Bytes of requests that both have, in sorted lists.
double common_bytes(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j])
      sum += static_cast<double>(a[i]), ++i, ++j;
    else if (a[i] < b[j])
      ++i;
    else
      ++j;
  }
  return sum;
}

/// Sites of one kind, in their order.
struct Side {
  std::vector<std::size_t> sites;
  std::vector<std::vector<std::int64_t>> sorted;  // Sizes of requests, by site.

  void sort(const std::vector<SiteBlocks>& all) {
    std::ranges::sort(sites, [&](std::size_t a, std::size_t b) {
      return all[a].place != all[b].place ? all[a].place < all[b].place : all[a].name < all[b].name;
    });
    for (const std::size_t site : sites) {
      sorted.push_back(all[site].requested);
      std::ranges::sort(sorted.back());
    }
  }
};

/// How sites of two snapshots are matched: by the sizes of their blocks, or first by name if most
/// sizes differ (as with another batch).
enum class Likeness : std::uint8_t { sizes, names };

/// A longest common subsequence, with weights.
class Alignment {
 public:
  Alignment(const std::vector<SiteBlocks>& before, const std::vector<SiteBlocks>& after,
            const Side& a, const Side& b, Likeness likeness)
      : before_(before),
        after_(after),
        a_(a),
        b_(b),
        likeness_(likeness),
        width_(b.sites.size() + 1) {
    best_.assign((a.sites.size() + 1) * width_, 0);
    for (std::size_t i = a.sites.size(); i-- > 0;)
      for (std::size_t j = b.sites.size(); j-- > 0;)
        at(i, j) = std::max({at(i + 1, j), at(i, j + 1), at(i + 1, j + 1) + weight(i, j)});
  }

  /// The weight of the best alignment: in essence the bytes of equal requests in all pairs.
  double weight_of_all() { return at(0, 0); }

  void add_pairs(std::vector<SitePair>& pairs) {
    std::size_t i = 0, j = 0;
    while (i < a_.sites.size() && j < b_.sites.size()) {
      if (weight(i, j) > 0 && at(i, j) == at(i + 1, j + 1) + weight(i, j))
        pairs.push_back({a_.sites[i++], b_.sites[j++]});
      else if (at(i, j) == at(i + 1, j))
        pairs.push_back({a_.sites[i++], {}});
      else
        pairs.push_back({{}, b_.sites[j++]});
    }
    while (i < a_.sites.size()) pairs.push_back({a_.sites[i++], {}});
    while (j < b_.sites.size()) pairs.push_back({{}, b_.sites[j++]});
  }

 private:
  double& at(std::size_t i, std::size_t j) { return best_[i * width_ + j]; }

  /// How well two sites match: the bytes of the requests they have in common. An equal name or an
  /// equal number of blocks breaks ties; with Likeness::names an equal name outweighs any bytes.
  double weight(std::size_t i, std::size_t j) const {
    const SiteBlocks& a = before_[a_.sites[i]];
    const SiteBlocks& b = after_[b_.sites[j]];
    double sum = common_bytes(a_.sorted[i], b_.sorted[j]);
    constexpr double more_than_any_bytes = 0x1p45;
    if (a.name == b.name) sum += likeness_ == Likeness::names ? more_than_any_bytes : 1;
    if (a.requested.size() == b.requested.size()) sum += 0.5;
    return sum;
  }

  const std::vector<SiteBlocks>&before_, &after_;
  const Side &a_, &b_;
  Likeness likeness_;
  std::size_t width_;
  std::vector<double> best_;
};

double bytes_of(const Side& side) {
  double sum = 0;
  for (const std::vector<std::int64_t>& sizes : side.sorted)
    for (const std::int64_t bytes : sizes) sum += static_cast<double>(bytes);
  return sum;
}

/// Aligns the sites of one kind.
void align_kind(const std::vector<SiteBlocks>& before, const std::vector<SiteBlocks>& after,
                const Side& a, const Side& b, std::vector<SitePair>& pairs) {
  constexpr std::size_t most_products = 1'000'000;
  if (a.sites.size() * b.sites.size() > most_products) {  // No program has so many lines.
    for (const std::size_t site : a.sites) pairs.push_back({site, {}});
    for (const std::size_t site : b.sites) pairs.push_back({{}, site});
    return;
  }
  Alignment by_sizes(before, after, a, b, Likeness::sizes);
  if (by_sizes.weight_of_all() >= std::min(bytes_of(a), bytes_of(b)) / 2)
    return by_sizes.add_pairs(pairs);
  Alignment(before, after, a, b, Likeness::names).add_pairs(pairs);
}

}  // namespace

std::vector<SitePair> align_sites(const std::vector<SiteBlocks>& before,
                                  const std::vector<SiteBlocks>& after) {
  std::map<std::string, std::pair<Side, Side>> kinds;
  for (std::size_t i = 0; i < before.size(); ++i) kinds[before[i].kind].first.sites.push_back(i);
  for (std::size_t i = 0; i < after.size(); ++i) kinds[after[i].kind].second.sites.push_back(i);
  std::vector<SitePair> pairs;
  for (auto& [kind, sides] : kinds) {
    sides.first.sort(before);
    sides.second.sort(after);
    align_kind(before, after, sides.first, sides.second, pairs);
  }
  return pairs;
}

}  // namespace symprof::snapshot
