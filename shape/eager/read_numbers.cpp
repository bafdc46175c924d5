#include "shape/eager/read_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/given_values.h"
#include "shape/eager/stand_in.h"

namespace symprof::shape {
namespace {

/// Ends loops such as `while mask.any():`: a line that reads more often than this, with no module
/// in between, gets the opposite answer.
constexpr int most_reads = 16;
constexpr std::size_t most_named_answers = 3;

std::string answer_text(double number) {
  return number == 1 ? "1 (true)" : fmt::format("{:.7g}", number);
}

/// "1 (true), 4 and others"
std::string answers_text(const std::set<double>& answers) {
  std::string text;
  std::size_t named = 0;
  for (const double number : answers) {
    if (named++ == most_named_answers) return text + " and others";
    text += (text.empty() ? "" : ", ") + answer_text(number);
  }
  return text;
}

const std::string& named_place(const std::string& place) {
  static const std::string unnamed = "the program";
  return place.empty() ? unnamed : place;
}

}  // namespace

double ReadNumbers::answer(const Recording& recording, StorageId storage,
                           const meta::ValueRange& range) {
  if (range.is_number()) return range.low;
  const StandIn stand_in = stand_in_for(recording, storage);
  const bool may_be_zero = range.low <= 0 && range.high >= 0;
  if (stand_in.tells_fault && may_be_zero) return stand_in.number;
  const std::string place = place_();
  Line& line = lines_[place];
  ++line.reads;
  double number = stand_in.number == 0 && may_be_zero ? 0 : range.likely;
  if (ends_loop(place)) {
    line.ends_loop = true;
    number = std::clamp(0.0, range.low, range.high);
  } else {
    line.answers.insert(number);
  }
  last_answered_ = place;
  last_answer_ = number;
  return number;
}

bool ReadNumbers::ends_loop(const std::string& place) {
  reads_ = place == last_place_ ? reads_ + 1 : 1;
  last_place_ = place;
  if (reads_ <= most_reads) return false;
  reads_ = 0;
  return true;
}

std::vector<std::string> ReadNumbers::warnings() const {
  std::vector<std::string> sentences;
  for (const auto& [place, line] : lines_)
    sentences.push_back(fmt::format(
        "{}: read unknown values of tensors {} time{} and got {}{}; decisions that depend on them "
        "may differ on a device ({} sets the values).",
        named_place(place), line.reads, line.reads == 1 ? "" : "s", answers_text(line.answers),
        line.ends_loop ? ", and 0 after every 16th, to end a loop" : "", given_values()));
  return sentences;
}

std::string ReadNumbers::last(const Recording& recording) const {
  std::string text;
  const auto bound = std::find_if(recording.nodes.rbegin(), recording.nodes.rend(),
                                  [](const NodeRecord& node) { return node.upper_bound; });
  if (bound != recording.nodes.rend())
    text = fmt::format("{} made a tensor whose size depends on data; its upper bound was used. ",
                       named_place(bound->source));
  if (!lines_.empty())
    text += fmt::format("{} read an unknown value of a tensor and got {:.7g}. ",
                        named_place(last_answered_), last_answer_);
  return text.empty() ? text : text + fmt::format("Set the value with {}.", given_values());
}

}  // namespace symprof::shape
