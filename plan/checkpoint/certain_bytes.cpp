#include "plan/checkpoint/certain_bytes.h"

#include <algorithm>
#include <map>
#include <set>

#include "record/region_of_call.h"

namespace symprof::plan {

void Sums::add(const Span& span, std::int64_t bytes) {
  if (span.is_empty() || bytes == 0) return;
  const auto calls = static_cast<std::ptrdiff_t>(changes_.size()) - 1;
  const auto at = [&](std::ptrdiff_t place) -> std::int64_t& {
    return changes_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, calls))];
  };
  at(span.first) += bytes;
  at(std::ptrdiff_t{span.last} + 1) -= bytes;
}

std::vector<std::int64_t> Sums::by_call() const {
  std::vector<std::int64_t> sums(changes_.size() - 1);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum += changes_[i];
  return sums;
}

CertainBytes::CertainBytes(const SharedSteps& steps, Pool pool,
                           const profile::SegmentWeights* weights)
    : steps_(steps),
      pool_(pool),
      weights_(weights),
      held_plain_(steps.modules().size(), Sums(steps.plain().calls().size())),
      held_again_(held_plain_),
      uncertain_(steps.plain().calls().size()) {
  add_forward_storages();
  add_made_again();
  add_others();
}

std::int64_t CertainBytes::weight(std::int64_t bytes) const {
  const Pool pool = bytes > largest_small_bytes ? Pool::large : Pool::small;
  if (pool_ == Pool::all) return bytes;
  return pool_ == pool ? weights_->of(bytes) : 0;
}

std::vector<std::int64_t> CertainBytes::held(const std::vector<HeldBytes>& held_bytes) const {
  std::vector<std::int64_t> held = uncertain_bytes();
  for (std::size_t i = 0; i < held.size(); ++i) {
    const HeldBytes& all = held_bytes[static_cast<std::size_t>(plain().calls()[i])];
    held[i] = (pool_ == Pool::all     ? all.all
               : pool_ == Pool::small ? all.small
                                      : all.large) -
              held[i];
  }
  return held;
}

std::vector<std::int64_t> CertainBytes::difference(std::size_t module) const {
  std::vector<std::int64_t> difference = held_plain_[module].by_call();
  const std::vector<std::int64_t> again = held_again_[module].by_call();
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= again[i];
  return difference;
}

std::vector<std::int64_t> CertainBytes::freed(std::size_t module) const {
  std::vector<std::int64_t> freed = difference(module);
  for (std::int64_t& bytes : freed) bytes = std::max<std::int64_t>(bytes, 0);
  return freed;
}

bool CertainBytes::is_choice(std::size_t module, std::size_t place) const {
  const auto at = static_cast<int>(place);
  return module < steps_.regions() && at > last_forward_free_ && at < steps_.goes_back(module) &&
         plain().call(place).phase != Phase::forward;
}

void CertainBytes::add_forward_storages() {
  const std::vector<Holders> held_by = steps_.holders();
  const auto made = plain().made(), made_again = again().made(), made_even = steps_.even().made(),
             made_odd = steps_.odd().made();
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (plain().call(i).phase != Phase::forward) continue;
    for (std::size_t j = 0; j < made[i].size(); ++j) {
      const std::int64_t size = bytes(plain(), made[i][j]);
      const auto span_in = [&](const SharedCalls& other,
                               const std::vector<std::vector<StorageId>>& others) {
        if (j >= others[i].size() || bytes(other, others[i][j]) != size) return Span{};
        return other.span(others[i][j]);
      };
      const Spans spans{plain().span(made[i][j]), span_in(again(), made_again),
                        span_in(steps_.even(), made_even), span_in(steps_.odd(), made_odd)};
      add(spans, size, steps_.module_of(i), held_by[static_cast<std::size_t>(made[i][j])]);
      if (steps_.module_of(i) != none && spans.again.last != never &&
          is_in_forward(spans.again.last))
        last_forward_free_ = std::max(last_forward_free_, spans.again.last);
    }
  }
}

bool CertainBytes::is_in_forward(int place) const {
  if (place < 0 || static_cast<std::size_t>(place) >= count()) return false;
  const Phase phase = plain().call(static_cast<std::size_t>(place)).phase;
  return phase == Phase::forward || phase == Phase::loss;
}

/// Modules that are not regions are recomputed only in the fully checkpointed recording, and in no
/// plan.
bool CertainBytes::leave_out_others(Holders& holders) const {
  const auto regions = static_cast<int>(steps_.regions());
  const std::size_t left_out =
      std::erase_if(holders.readers, [&](int reader) { return reader >= regions; });
  if (holders.maker < regions) return left_out > 0;
  holders.maker = none;
  return true;
}

void CertainBytes::add(const Spans& spans, std::int64_t bytes, int region, Holders holders) {
  holders.maker = region;  // Also for storages that no later call reads.
  const bool has_others = leave_out_others(holders);
  const int maker = holders.maker;
  const std::size_t regions = holders.readers.size() + (maker == none ? 0 : 1);
  if (regions == 1) {
    const auto one = static_cast<std::size_t>(maker == none ? *holders.readers.begin() : maker);
    const Span& of_side = steps_.side(one) == 0 ? spans.even : spans.odd;
    held_plain_[one].add(spans.plain, bytes);
    held_again_[one].add(has_others ? of_side : spans.again, bytes);
  } else if (regions == 2 && maker != none && !is_alike(maker, *holders.readers.begin())) {
    add_of_two(spans, bytes, maker);
  } else if (regions > 0) {
    add_of_many(spans, bytes, holders);
  } else {
    base_plain_.emplace_back(spans.plain, bytes);
    base_other_[0].emplace_back(has_others ? spans.plain : spans.again, bytes);
    base_other_[1].emplace_back(spans.even, bytes);
    base_other_[2].emplace_back(spans.odd, bytes);
  }
}

/// True if both are recomputed in the same recordings.
bool CertainBytes::is_alike(int a, int b) const {
  return steps_.side(static_cast<std::size_t>(a)) == steps_.side(static_cast<std::size_t>(b));
}

/// The maker's choice decides, whatever the reader does.
void CertainBytes::add_of_two(const Spans& spans, std::int64_t bytes, int maker) {
  const auto at = static_cast<std::size_t>(maker);
  const bool is_even = steps_.side(at) == 0;
  const Span& maker_again = is_even ? spans.even : spans.odd;
  const Span& reader_again = is_even ? spans.odd : spans.even;
  const Span sure = spans.plain.within(reader_again);
  held_plain_[at].add(sure, bytes);
  held_again_[at].add(spans.again.within(maker_again), bytes);
  uncertain_.add(spans.plain, bytes);
  uncertain_.add(sure, -bytes);
}

/// A recomputed region keeps its inputs until its recomputation and from then on as long as an
/// uncheckpointed one, because the recomputation saves them again. So the storage is freed earliest
/// with all readers uncheckpointed: as in the plain step or, if its maker is recomputed, as in the
/// recording in which no reader is.
void CertainBytes::add_of_many(const Spans& spans, std::int64_t bytes, const Holders& holders) {
  Span sure = spans.plain.within(spans.again);
  uncertain_.add(spans.plain, bytes);
  if (holders.maker == none) return uncertain_.add(sure, -bytes);
  for (const int reader : holders.readers)
    if (is_alike(holders.maker, reader)) return;
  const auto maker = static_cast<std::size_t>(holders.maker);
  sure = sure.within(steps_.side(maker) == 0 ? spans.even : spans.odd);
  uncertain_.add(sure, -bytes);
}

/// Storages made by recomputation.
void CertainBytes::add_made_again() {
  const Recording& recording = again().recording();
  for (std::size_t i = 0; i < recording.storages.size(); ++i) {
    const CallId by = recording.storages[i].allocated_by;
    const auto storage = static_cast<StorageId>(i);
    if (by != none && again().is_again(by))
      held_again_[steps_.modules().at(region_of_call(recording, by))].add(again().span(storage),
                                                                          bytes(again(), storage));
  }
}

/// Gradients and other storages made outside the forward pass.
void CertainBytes::add_others() {
  const auto add = [this](const SharedCalls& calls, auto& list) {
    const auto made = calls.made();
    for (std::size_t i = 0; i < made.size(); ++i)
      if (calls.call(i).phase != Phase::forward)
        for (const StorageId storage : made[i])
          list.emplace_back(calls.span(storage), bytes(calls, storage));
  };
  add(plain(), base_plain_);
  add(again(), base_other_[0]);
  add(steps_.even(), base_other_[1]);
  add(steps_.odd(), base_other_[2]);
}

std::vector<std::int64_t> CertainBytes::sums_of(const Spanned& list) const {
  Sums sums(count());
  for (const auto& [span, bytes] : list) sums.add(span, bytes);
  return sums.by_call();
}

/// By shared call: bytes of the plain step that another plan might not hold, apart from the bytes
/// that recomputing a region frees.
std::vector<std::int64_t> CertainBytes::uncertain_bytes() const {
  std::vector<std::int64_t> sums = uncertain_.by_call();
  const std::vector<std::int64_t> plain = sums_of(base_plain_);
  std::vector<std::int64_t> most(sums.size(), 0);
  for (const Spanned& list : base_other_) {
    const std::vector<std::int64_t> other = sums_of(list);
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], plain[i] - other[i]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += most[i];
  return sums;
}

}  // namespace symprof::plan
