#include "base/error.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace {

using namespace symprof;

/// Formats settings unlike the command line.
std::string spell_with_brackets(const SettingRef& setting) {
  return "[" + setting.name + "|" + setting.value + "]";
}

Error too_small() {
  return {"model.onnx: node sum (Add)", fmt::format("{} is too small", setting("kv_cache", "4")),
          fmt::format("Give {}, or leave {} out.", setting("sizes", "batch=8"), setting("mode"))};
}

}  // namespace

TEST_SUITE("error") {
  TEST_CASE("users of the library get plain setting names") {
    CHECK(std::string(too_small().what()) ==
          "model.onnx: node sum (Add): kv_cache=4 is too small\n"
          "  Give sizes batch=8, or leave mode out.");
    CHECK(too_small().where() == "model.onnx: node sum (Add)");
    CHECK(too_small().problem() == "kv_cache=4 is too small");
    CHECK(too_small().advice() == "Give sizes batch=8, or leave mode out.");
    CHECK(std::string(Error("", "nothing is known").what()) == "nothing is known");
  }

  TEST_CASE("each front end formats settings its own way") {
    CHECK(too_small().summary(spell_with_brackets) ==
          "model.onnx: node sum (Add): [kv_cache|4] is too small");
    CHECK(too_small().advice(spell_with_brackets) == "Give [sizes|batch=8], or leave [mode|] out.");
  }

  TEST_CASE("an error lists the settings it refers to") {
    CHECK(too_small().settings() ==
          std::vector<SettingRef>{{"kv_cache", "4"}, {"sizes", "batch=8"}, {"mode"}});
    CHECK_FALSE(too_small().about());
    CHECK_FALSE(too_small().is_about("kv_cache"));
  }

  TEST_CASE("an error can be about a setting") {
    const Error error(SettingRef{"sizes", "a=b=8"}, "no input has a dimension called 'a=b'");
    CHECK(error.where() == "sizes a=b=8");
    CHECK(error.where(spell_with_brackets) == "[sizes|a=b=8]");
    CHECK(error.about() == SettingRef{"sizes", "a=b=8"});
    CHECK(error.is_about("sizes"));
    CHECK(error.is_about("sizes", "a=b"));
    CHECK_FALSE(error.is_about("sizes", "a"));
    CHECK_FALSE(error.is_about("inputs"));
    CHECK(error.settings() == std::vector<SettingRef>{{"sizes", "a=b=8"}});
  }

  TEST_CASE("the place of an error can be replaced") {
    const Error error(SettingRef{"sizes", "batch=8"}, "is too large",
                      "Leave " + setting("max") + " out.", ErrorKind::not_available);
    const Error inside = error.inside("model.onnx");
    CHECK(inside.summary() == "model.onnx: sizes batch=8: is too large");
    CHECK(inside.summary(spell_with_brackets) == "model.onnx: [sizes|batch=8]: is too large");
    CHECK_FALSE(inside.about());
    const Error elsewhere = error.at(SettingRef{"max", "batch"});
    CHECK(std::string(elsewhere.what()) == "max=batch: is too large\n  Leave max out.");
    CHECK(elsewhere.is_about("max"));
    CHECK(elsewhere.kind() == ErrorKind::not_available);
  }

  TEST_CASE("references survive in an enclosing text") {
    const Error outer("model.onnx", too_small().problem(unspelled));
    CHECK(outer.problem(spell_with_brackets) == "[kv_cache|4] is too small");
    CHECK(outer.settings() == std::vector<SettingRef>{{"kv_cache", "4"}});
  }

  TEST_CASE("a value may contain any bytes") {
    const std::string odd = setting("checkpoint", "*") + "\x02\x1f\n";
    const std::string text = setting("freeze", odd) + setting("device");
    CHECK(settings_in(text) == std::vector<SettingRef>{{"freeze", odd}, {"device"}});
  }

  TEST_CASE("incomplete references are left unchanged") {
    const std::string whole = setting("checkpoint", "layers.*");
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string cut = whole.substr(0, length);
      CHECK(spelled(cut) == cut);
      CHECK(settings_in(cut).empty());
    }
    CHECK(spelled("\x02" + whole) ==
          "\x02"
          "checkpoint=layers.*");
    CHECK(spelled("\x02name\x1f" + whole) ==
          "\x02name\x1f"
          "checkpoint=layers.*");
  }
}
