// One error type for bad input: where, what was found, what was wanted, and what to do next.
//
// Public header.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/setting.h"

namespace symprof {

/// What went wrong, as the exit code of the program distinguishes it.
enum class ErrorKind {
  bad_input,      ///< The file, the graph or a setting is wrong: exit code 2.
  not_available,  ///< Something that this machine lacks (a GPU, a library): exit code 3.
};

/// Where something is wrong: a place in words ("model.onnx: node sum (Add)"), or a setting.
class ErrorPlace {
 public:
  ErrorPlace(std::string words) : text_(std::move(words)) {}
  ErrorPlace(const char* words) : text_(words) {}
  ErrorPlace(SettingRef setting) : text_(unspelled(setting)), setting_(std::move(setting)) {}

  const std::string& text() const { return text_; }
  const std::optional<SettingRef>& setting() const { return setting_; }

 private:
  std::string text_;
  std::optional<SettingRef> setting_;
};

/// An error that a user can act on. `what()` is the whole message:
/// "<where>: <problem>" and, when there is one, the advice indented on the next line.
///
/// Its texts may refer to settings (`setting("kv_cache")` in base/setting.h). Whoever prints them
/// spells those; `unspelled` keeps the references, for a text that goes into another one.
class Error : public std::runtime_error {
 public:
  Error(ErrorPlace place, std::string problem, std::string advice = {},
        ErrorKind kind = ErrorKind::bad_input);

  std::string where(SettingSpeller spell = spell_plainly) const;
  std::string problem(SettingSpeller spell = spell_plainly) const;
  std::string advice(SettingSpeller spell = spell_plainly) const;
  /// "<where>: <problem>", without the advice.
  std::string summary(SettingSpeller spell = spell_plainly) const;
  ErrorKind kind() const { return kind_; }

  /// The setting that is wrong; empty where something else is.
  const std::optional<SettingRef>& about() const { return place_.setting(); }
  /// Whether the setting `name` is wrong, or its entry `entry` ("batch" of sizes).
  bool is_about(std::string_view name) const;
  bool is_about(std::string_view name, std::string_view entry) const;
  /// All settings that the texts refer to: those of the problem, then those of the advice.
  std::vector<SettingRef> settings() const;

  /// This error with `outer` before its place: "<outer>: <where>: <problem>".
  Error inside(const std::string& outer) const;
  /// This error with another place.
  Error at(ErrorPlace place) const;

 private:
  ErrorPlace place_;
  std::string problem_, advice_;
  ErrorKind kind_;
};

}  // namespace symprof
