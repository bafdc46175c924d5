#include "trace/python/source/assignment.h"
#include "tests/support/source_folder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace symprof;
using Names = std::vector<std::vector<std::string>>;

Names names(const trace::Assignment& assignment) {
  Names found;
  for (const auto& group : assignment.targets) {
    found.emplace_back();
    for (const trace::Target& target : group)
      found.back().push_back(std::string(target.name) +
                             (target.replaces || target.name.empty() ? "" : "[]"));
  }
  return found;
}

Names names(std::string_view line) { return names(trace::parse_assignment(line)); }

}  // namespace

TEST_SUITE("assignment") {
  TEST_CASE("the targets are those that Python's own parser finds") {
    // Made by truth/assignments/record.py from the lines that the zoo's exports keep.
    std::ifstream file(test::source_folder() + "/truth/assignments/assignments.json");
    int compared = 0;
    for (const nlohmann::json& row : nlohmann::json::parse(file)) {
      const std::string line = row.at("line");
      CAPTURE(line);
      const trace::Assignment found = trace::parse_assignment(line);
      const bool is_first = row.at("first");
      CHECK(names(found) == (is_first ? row.at("targets").get<Names>() : Names{}));
      CHECK(found.returns == (is_first && row.at("returns").get<bool>()));
      ++compared;
    }
    CHECK(compared > 900);
  }

  TEST_CASE("every form of an assignment") {
    CHECK(names("x = y") == Names{{"x"}});
    CHECK(names("x=y  # = z") == Names{{"x"}});
    CHECK(names("a = b, c = f(d=1)") == Names{{"a"}, {"b", "c"}});
    CHECK(names("(a, [b, *c]), d = f(") == Names{{"a", "b", "c", "d"}});
    CHECK(names("x: dict[str, int] = {}") == Names{{"x"}});
    CHECK(names("self.cache[i, j], self.y = f()") == Names{{"self.cache[]", "self.y"}});
    CHECK(names("f(x).y = z") == Names{{""}});
    for (const char* line : {"x += y", "x **= y", "x //= y", "x @= y", "x <<= y", "x |= y"})
      CHECK(names(line) == Names{{"x"}});
    CHECK(names("if a == b: x = y") == Names{{"x"}});
    CHECK(names("x = a == b") == Names{{"x"}});
    CHECK(names("x = 'a=b, \\'c' + \"=\"") == Names{{"x"}});
    CHECK(trace::parse_assignment("return a == b").returns);
    CHECK(trace::parse_assignment("else: return x").returns);
  }

  TEST_CASE("lists that a line adds a value to") {
    const auto keeper = [](std::string_view line) { return trace::parse_assignment(line).keeper; };
    CHECK(keeper("xs.append(f(x))") == "xs");
    CHECK(keeper("self.seen.insert(0, x)") == "self.seen");
    CHECK(keeper("for x in y: xs.extend(x)") == "xs");
    CHECK(keeper("xs += [f(x)]") == "xs");
    CHECK(keeper("xs += (f(x),)") == "xs");
    CHECK(keeper("xs = xs + (f(x),)  # all") == "xs");
    for (const char* line : {"x = xs.append(y)", "xs.sort()", "append(x)", "x += (a * b)",
                             "x += f([y])", "xs = ys + [x]", "xs = xs * [x]", "x = x + f(y, z)",
                             "xs[0] += [x]", "return xs + (x,)"}) {
      CAPTURE(line);
      CHECK(keeper(line).empty());
    }
  }

  TEST_CASE("lines that assign nothing") {
    for (const char* line : {"",
                             "x",
                             "f(x=1)",
                             "a == b",
                             "a <= b",
                             "a != b",
                             "(x := f(y))",
                             "assert x == y",
                             "del x",
                             "x: int",
                             "for x in f(y=1):",
                             "with f(y=1) as x:",
                             "return",
                             "mask=mask,",
                             "a, mask=mask",
                             "x=f(y), mask=mask",
                             "x], dim=1)",
                             ".view(x)",
                             "returned(x)",
                             "=",
                             "= x",
                             "lambda x=1: x",
                             "'unclosed = x"}) {
      CAPTURE(line);
      const trace::Assignment found = trace::parse_assignment(line);
      CHECK(!found.returns);
      for (const auto& group : found.targets) CHECK(group.empty());
    }
  }

  TEST_CASE("variables that a return puts into its result") {
    using Names = std::vector<std::string_view>;
    CHECK(trace::returned_names("return a") == Names{"a"});
    CHECK(trace::returned_names("return a, [b, (c,)]") == Names{"a", "b", "c"});
    CHECK(trace::returned_names("return {'a': a, 'b': f(b)}") == Names{"a"});
    CHECK(trace::returned_names("return types.Output(a, states=b, loss=c + d)") == Names{"a", "b"});
    CHECK(trace::returned_names("if done: return (a, b)") == Names{"a", "b"});
    for (const char* line :
         {"a = b", "return", "return f(a)", "return a.b", "return a[0]", "return Output(a).b",
          "return a if b else c", "return (", "return )"}) {
      CAPTURE(line);
      CHECK(trace::returned_names(line).empty());
    }
  }

  TEST_CASE("lines that bind variables and call nothing") {
    for (const char* line :
         {"residual = x", "xs = []", "x, y = None, 0", "x = y = {}", "del x, y"}) {
      CAPTURE(line);
      CHECK(trace::binds_plainly(line));
    }
    for (const char* line :
         {"x = f(y)", "x += y", "x = y + z", "if a: x = y", "x[0] = y", "self.x = y", "return x",
          "x = y.z", "x = [y]", "x == y", "model = x[0]", ""}) {
      CAPTURE(line);
      CHECK_FALSE(trace::binds_plainly(line));
    }
    CHECK(trace::is_plain_copy("residual = x"));
    CHECK_FALSE(trace::is_plain_copy("residual = None"));
    CHECK(trace::deleted_names("del x, y").size() == 2);
    CHECK(trace::deleted_names("delta = x").empty());
  }

  TEST_CASE("a list that is joined by its name") {
    CHECK(trace::joined_list("x = torch.cat(xs, 1)") == "xs");
    CHECK(trace::joined_list("return f(stack(self.xs))") == "self.xs");
    for (const char* line : {"x = torch.cat([x, y], 1)", "x = cat((x, y))", "x = cat(xs + [y])",
                             "x = concat(f(x), 1)", "x = unstack(xs)", "x = cat("}) {
      CAPTURE(line);
      CHECK(trace::joined_list(line).empty());
    }
  }
}
