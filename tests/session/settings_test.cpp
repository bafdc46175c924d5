#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "session/read_text.h"
#include "session/session.h"
#include "session/setting_table.h"

namespace symprof::test {
namespace {

Settings given(std::initializer_list<std::pair<const char*, const char*>> texts) {
  Settings settings;
  for (const auto& [name, text] : texts) settings::set(settings, name, text);
  return settings;
}

std::string refusal(const Settings& settings) {
  try {
    settings::check(settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("settings") {
  TEST_CASE("power and clock") {
    CHECK(settings::parse_watts("300W") == 300);
    CHECK(settings::parse_watts("72.5") == 72.5);
    CHECK(settings::parse_hertz("1.2GHz") == settings::parse_hertz("1200MHz"));
    for (const char* wrong : {"", "0W", "-3W", "3kW"})
      CHECK_THROWS_AS(settings::parse_watts(wrong), Error);
    for (const char* wrong : {"", "1200", "0MHz", "1200 MHz"})
      CHECK_THROWS_AS(settings::parse_hertz(wrong), Error);
    const Settings limited = given({{"power_limit", "50W"}, {"clock", "1GHz"}, {"device", "t4"}});
    CHECK(limited.power_limit_watts == 50);
    CHECK(device_of(limited).power_limit_watts == 50);
    CHECK(device_of(limited).clock_limit_hz == 1e9);
  }

  TEST_CASE("spans of time and amounts") {
    const SettingRef where{"deadline"};
    CHECK(settings::parse_duration(where, "3d") == 3 * 24 * 3600);
    CHECK(settings::parse_duration(where, "1.5h") == 1.5 * 3600);
    CHECK(settings::parse_duration(where, "90min") == 90 * 60);
    for (const char* wrong : {"", "3", "3 d", "-3d", "0s", "3weeks"})
      CHECK_THROWS_AS(settings::parse_duration(where, wrong), Error);
    CHECK(settings::parse_amount(where, "1e6") == 1'000'000);
    for (const char* wrong : {"", "0", "1.5", "-1", "1k"})
      CHECK_THROWS_AS(settings::parse_amount(where, wrong), Error);
  }

  TEST_CASE("a verb accepts the settings that affect it") {
    const auto takes = [](Verb verb, std::string_view name) {
      return std::ranges::any_of(settings::settings_of(verb),
                                 [&](const settings::Setting* row) { return row->name == name; });
    };
    for (const char* of_loop : {"optimizer", "warm_start", "alloc_conf", "context"}) {
      CHECK(takes(Verb::profile, of_loop));
      CHECK_FALSE(takes(Verb::dot, of_loop));
      CHECK_FALSE(takes(Verb::show, of_loop));
    }
    CHECK_FALSE(takes(Verb::measure, "parallel"));
    CHECK(takes(Verb::run, "device"));
    CHECK_FALSE(takes(Verb::run, "optimizer"));
    CHECK(takes(Verb::profile_module, "optimizer"));
    CHECK_FALSE(takes(Verb::profile_module, "sizes"));
  }

  TEST_CASE("every row has a unique name, a group and a help text") {
    std::set<std::string_view> names;
    for (const settings::Setting& row : settings::table()) {
      CAPTURE(row.name);
      CHECK(names.insert(row.name).second);
      CHECK_FALSE(row.help.text().empty());
      CHECK(row.placeholder.empty() == (row.arity == settings::Arity::flag));
      CHECK(std::ranges::find(settings::groups(), row.group) != settings::groups().end());
    }
  }

  TEST_CASE("a parsed setting is printed as its text") {
    const std::pair<const char*, const char*> texts[] = {{"mode", "eval"},
                                                         {"loss", "mse"},
                                                         {"optimizer", "adamw:fused"},
                                                         {"attention", "math"},
                                                         {"lifetimes", "last-use"},
                                                         {"unbacked", "max"},
                                                         {"alloc_conf", "expandable_segments:True"},
                                                         {"device", "a100-80g"}};
    for (const auto& [name, text] : texts) {
      Settings settings = given({{name, text}});
      settings.step.mode = settings.mode.value_or(settings.step.mode);
      CAPTURE(name);
      CHECK(std::get<std::string>(settings::find(name).value(settings)) == text);
    }
    CHECK(std::get<std::string>(settings::find("dtype").value(given({{"dtype", "bf16"}}))) ==
          "bfloat16");
    CHECK(std::get<std::int64_t>(settings::find("kv_cache").value(given({{"kv_cache", "4096"}}))) ==
          4096);
  }

  TEST_CASE("repeatable settings accumulate") {
    const Settings settings = given({{"checkpoint", "a.*, b"},
                                     {"checkpoint", "b"},
                                     {"sizes", "batch=8"},
                                     {"sizes", "seq=4"},
                                     {"alloc_conf", "expandable_segments:True"},
                                     {"alloc_conf", "max_split_size_mb:64"}});
    CHECK(settings.step.checkpoint == std::vector<std::string>{"a.*", "b"});
    CHECK(given_size(settings, "seq") == 4);
    CHECK(settings.loop.allocator.expandable_segments);
    CHECK(settings.loop.allocator.max_split_size_bytes == std::int64_t{64} << 20);
  }

  TEST_CASE("a setting whose condition is missing names it") {
    CHECK(refusal(given({{"grad_scaler", ""}})) ==
          "grad_scaler: it is a part of the optimizer's update, and there is none.\n"
          "  Add optimizer=adamw, or leave it out.");
    CHECK(refusal(given({{"mode", "inference"}, {"loss", "mean"}})).starts_with("loss: "));
    CHECK(refusal(given({{"kv_cache", "8"}, {"micro_batches", "2"}})).starts_with("micro_batches"));
    CHECK(refusal(given({{"grad_scaler", ""}, {"optimizer", "adam"}})).empty());
  }

  TEST_CASE("an unknown name has a suggestion") {
    CHECK_THROWS_WITH_AS(settings::find("kv_cahce"), doctest::Contains("kv_cache"), Error);
  }
}

}  // namespace symprof::test
