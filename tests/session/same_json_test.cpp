// The library and the command line return the same JSON for the same settings.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>

#include "base/error.h"
#include "report/profile/json.h"
#include "report/write/option_spelling.h"
#include "session/session.h"
#include "session/setting_table.h"
#include "tests/support/source_folder.h"

namespace symprof::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> shipped_models() {
  std::set<std::string> found;
  for (const char* folder : {"/models", "/models/tiny"})
    for (const auto& entry : fs::directory_iterator(test::source_folder() + folder))
      if (const std::string kind = entry.path().extension();
          kind == ".pt2" || kind == ".onnx" || kind == ".pt")
        found.insert(entry.path().string());
  return found;
}

/// Removes symprof's own run time, which differs from run to run.
std::string without_times(const std::string& json) {
  static const std::regex times(R"re("(forward|backward)_ms": ?[-+.e0-9]+)re");
  return std::regex_replace(json, times, "\"$1_ms\":0");
}

std::string by_command(const std::string& model, const std::string& mode) {
  const std::string command = std::string(SYMPROF_PROGRAM) + " profile '" + model + "' --mode " +
                              mode + " --format json 2>&1";
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 65536> buffer;
  for (std::size_t read; (read = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), read);
  ::pclose(pipe);
  return without_times(text);
}

/// An error in the program's format.
std::string message_of(const Error& error) {
  std::string text = "symprof: " + error.summary(report::spell_as_option);
  if (!text.ends_with('.')) text += '.';
  const std::string advice = error.advice(report::spell_as_option);
  return text + (advice.empty() ? "" : "\n  " + advice) + "\n";
}

std::string by_library(const std::string& model, const std::string& mode) try {
  Settings settings;
  settings::set(settings, "mode", mode);
  Session session(model);
  const PreparedModel prepared = session.prepare(settings);
  const Profile profile = session.profile(prepared);
  fmt::memory_buffer out;
  report::write_json(out, profile, prepared.settings, report::spell_as_option);
  return without_times({out.data(), out.size()});
} catch (const Error& error) {
  return message_of(error);
}

}  // namespace

TEST_SUITE("same_json") {
  TEST_CASE("every shipped model in every mode") {
    int compared = 0;
    for (const std::string& model : shipped_models())
      for (const char* mode : {"train", "eval", "inference"}) {
        CAPTURE(model);
        CAPTURE(mode);
        const bool is_same = by_library(model, mode) == by_command(model, mode);
        CHECK(is_same);
        ++compared;
      }
    CHECK(compared > 150);
  }
}

}  // namespace symprof::test
