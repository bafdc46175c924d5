#include "trace/python/source/source_lines.h"

#include <doctest/doctest.h>

namespace {

using namespace symprof;

struct Table {
  std::vector<SourceLine> lines;
  trace::SourceTable table{lines};

  const SourceLine& at(SourceId id) const { return lines.at(static_cast<std::size_t>(id)); }
};

}  // namespace

TEST_SUITE("source_lines") {
  TEST_CASE("a stack trace is a line and its callers") {
    Table sources;
    const SourceId inner = sources.table.intern(
        "File \"model.py\", line 12, in forward\n    return self.body(x)\n"
        "  File \"dir with, line 3/body.py\", line 7, in forward\n    x = self.fc(x)");
    REQUIRE(sources.lines.size() == 2);
    CHECK(sources.at(inner).file == "dir with, line 3/body.py");
    CHECK(sources.at(inner).line == 7);
    CHECK(sources.at(inner).text == "x = self.fc(x)");
    const SourceLine& outer = sources.at(sources.at(inner).caller);
    CHECK(outer.function == "forward");
    CHECK(outer.text == "return self.body(x)");
    CHECK(outer.caller == no_source);
  }

  TEST_CASE("a line has one entry per caller") {
    Table sources;
    const std::string a = "File \"m.py\", line 1, in forward\n    a()\n";
    const std::string b = "File \"m.py\", line 2, in forward\n    b()\n";
    const std::string callee = "  File \"m.py\", line 9, in helper\n    return x";
    const std::string traces[] = {a + callee, b + callee, a + callee, a};
    SourceId ids[4];
    for (int i = 0; i < 4; ++i) ids[i] = sources.table.intern(traces[i]);
    CHECK(ids[0] == ids[2]);
    CHECK(ids[0] != ids[1]);
    CHECK(sources.at(ids[0]).caller == ids[3]);
    CHECK(sources.lines.size() == 4);
  }

  TEST_CASE("text that is not a stack trace gives no line") {
    Table sources;
    for (const char* trace : {"", "\n\n", "text\nFile", "File \"m.py\"\n    x", "File \"\", line"})
      CHECK(sources.table.intern(trace) == no_source);
    CHECK(sources.lines.empty());
  }

  TEST_CASE("a line whose text the exporter did not have") {
    Table sources;
    const SourceId id = sources.table.intern(
        "File \"a.py\", line 1, in forward\nFile \"<eval>.5\", line 15, in forward\n");
    CHECK(sources.lines.size() == 2);
    CHECK(sources.at(id).text.empty());
    CHECK(sources.at(id).file == "<eval>.5");
  }
}
