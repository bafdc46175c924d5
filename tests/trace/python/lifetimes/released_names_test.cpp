// Lines that torch.fx generated, which say where their names end.
#include "trace/python/lifetimes/released_names.h"

#include <doctest/doctest.h>

namespace symprof::trace {

TEST_SUITE("released_names") {
  using Names = std::vector<std::string_view>;

  TEST_CASE("variables that a generated line releases") {
    const GeneratedLine line = parse_generated_line("mul = a.mul(b, c);  a = b = None");
    CHECK(line.statement == "mul = a.mul(b, c)");
    CHECK(line.released == Names{"a", "b"});
    CHECK(parse_generated_line("y = f(x);  y = None").released == Names{"y"});
  }

  TEST_CASE("lines that release nothing") {
    for (const std::string_view text : {"y = f(x)", "y = f(x); z = 3", "x = None", ""}) {
      CAPTURE(text);
      CHECK(parse_generated_line(text).statement == text);
      CHECK(parse_generated_line(text).released.empty());
    }
  }
}

}  // namespace symprof::trace
