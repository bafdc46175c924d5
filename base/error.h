// The error type for bad input: place, problem, expected value, and advice.
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

/// The kind of error, which determines the program's exit code.
enum class ErrorKind {
  bad_input,      ///< The file, the graph or a setting is wrong: exit code 2.
  not_available,  ///< This machine lacks something (a GPU, a library): exit code 3.
};

/// The place of an error: text ("model.onnx: node sum (Add)"), or a setting.
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

/// An error that a user can act on. `what()` is the whole message: "<where>: <problem>" and, if
/// there is one, the advice, indented on the next line.
///
/// Its texts may contain references to settings (`setting("kv_cache")` in base/setting.h), which
/// the front end formats; `unspelled` keeps the references, for a text that becomes part of another
/// one.
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

  /// The invalid setting; empty if the error is about something else.
  const std::optional<SettingRef>& about() const { return place_.setting(); }
  /// True if the setting `name` is invalid, or its entry `entry` ("batch" of sizes).
  bool is_about(std::string_view name) const;
  bool is_about(std::string_view name, std::string_view entry) const;
  /// All settings that the texts refer to: first in the problem, then in the advice.
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
