#include "trace/graph/expression.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

TEST_SUITE("expression") {
  using namespace symprof::trace;

  TEST_CASE("sizes as arithmetic") {
    const auto at = [](const std::string& text) {
      return evaluate(text, [](std::string_view name) -> std::optional<std::int64_t> {
        if (name == "a") return 7;
        return std::nullopt;
      });
    };
    CHECK(at("2*a + 1") == 2 * 7 + 1);
    CHECK(at("2*(a + -1)//4") == 2 * (7 - 1) / 4);
    CHECK(at("-a//2") == -4);
    CHECK(at("a % 4 - a") == 7 % 4 - 7);
    CHECK(at("Max(a, 3, 9) - Min(a, 3)") == 9 - 3);
    CHECK(at("FloorDiv(a, 2) + CeilDiv(a, 2) + Pow(a, 2)") == 3 + 4 + 49);
    CHECK_FALSE(at("a/2"));
    CHECK_FALSE(at("b"));
    CHECK_FALSE(at("a//0"));
    CHECK_FALSE(at("a +"));
    CHECK_FALSE(at("sin(a)"));
    CHECK_FALSE(at("9223372036854775807 + a"));
    CHECK_FALSE(at(std::string(5000, '(')));
    CHECK(symbols("Max(a, 2*b) + a") == std::vector<std::string>{"a", "b"});
    CHECK(rename_symbol("Max(s1, s11) + s1", "s1", "n") == "Max(n, s11) + n");
    CHECK(solve("3*a + 1", "a", 22, [](auto) { return std::nullopt; }) == 7);
    CHECK_FALSE(solve("3*a", "a", 22, [](auto) { return std::nullopt; }));
  }
}
