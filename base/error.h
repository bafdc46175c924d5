// One error type for bad input: where, what was found, what was wanted, and what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace symprof {

/// What went wrong, as the exit code of the program distinguishes it.
enum class ErrorKind {
  bad_input,      ///< The file, the graph or an option is wrong: exit code 2.
  not_available,  ///< Something that this machine lacks (a GPU, a library): exit code 3.
};

/// An error that a user can act on. `what()` is the whole message:
/// "<where>: <problem>" and, when there is one, the advice indented on the next line.
class Error : public std::runtime_error {
 public:
  Error(std::string where, std::string problem, std::string advice = {},
        ErrorKind kind = ErrorKind::bad_input)
      : std::runtime_error(where + (where.empty() ? "" : ": ") + problem +
                           (advice.empty() ? "" : "\n  " + advice)),
        where_(std::move(where)),
        problem_(std::move(problem)),
        advice_(std::move(advice)),
        kind_(kind) {}

  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }
  const std::string& advice() const { return advice_; }
  ErrorKind kind() const { return kind_; }

  /// "<where>: <problem>", without the advice.
  std::string summary() const { return where_ + (where_.empty() ? "" : ": ") + problem_; }
  /// The same, of something inside `outer`: "<outer>: <where>: <problem>".
  Error inside(std::string outer) const { return {std::move(outer), summary(), advice_, kind_}; }

 private:
  std::string where_, problem_, advice_;
  ErrorKind kind_;
};

}  // namespace symprof
