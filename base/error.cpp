#include "base/error.h"

namespace symprof {
namespace {

std::string joined_summary(const std::string& where, const std::string& problem) {
  return where + (where.empty() ? "" : ": ") + problem;
}

std::string whole_message(const std::string& where, const std::string& problem,
                          const std::string& advice) {
  return spelled(joined_summary(where, problem) + (advice.empty() ? "" : "\n  ") + advice);
}

}  // namespace

Error::Error(ErrorPlace place, std::string problem, std::string advice, ErrorKind kind)
    : std::runtime_error(whole_message(place.text(), problem, advice)),
      place_(std::move(place)),
      problem_(std::move(problem)),
      advice_(std::move(advice)),
      kind_(kind) {}

std::string Error::where(SettingSpeller spell) const { return spelled(place_.text(), spell); }

std::string Error::problem(SettingSpeller spell) const { return spelled(problem_, spell); }

std::string Error::advice(SettingSpeller spell) const { return spelled(advice_, spell); }

std::string Error::summary(SettingSpeller spell) const {
  return spelled(joined_summary(place_.text(), problem_), spell);
}

bool Error::is_about(std::string_view name) const { return about() && about()->name == name; }

bool Error::is_about(std::string_view name, std::string_view entry) const {
  return is_about(name) && about()->entry() == entry;
}

std::vector<SettingRef> Error::settings() const {
  return settings_in(joined_summary(place_.text(), problem_) + " " + advice_);
}

Error Error::inside(const std::string& outer) const {
  return {outer, joined_summary(place_.text(), problem_), advice_, kind_};
}

Error Error::at(ErrorPlace place) const { return {std::move(place), problem_, advice_, kind_}; }

}  // namespace symprof
