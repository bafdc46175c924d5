// Unbacked sizes: refused, given with --set, or taken as their upper bounds.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/silent_observer.h"
#include "report/profile/json.h"
#include "report/profile/table.h"
#include "tests/support/torch/exported_profile.h"
#include "tests/support/torch/graph_builder.h"
#include "trace/onnx/reader.h"

namespace symprof::unbacked_sizes_test {
namespace {

using test::bounded_nodes;
using test::contiguous;
using test::GraphBuilder;
using test::layer_width;
using test::message_of;
using test::narrow;
using test::profile_of;
using test::wide;
using Sizes = std::vector<std::int64_t>;
using Ops = std::vector<std::string>;

/// Returns the upper bound, or `unbounded` if there is none.
class Bounds final : public meta::SilentObserver {
 public:
  explicit Bounds(std::optional<std::int64_t> unbounded) : unbounded_(unbounded) {}
  std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> most) override {
    return most ? most : unbounded_;
  }

 private:
  std::optional<std::int64_t> unbounded_;
};

struct Case {
  const char* op;
  std::vector<at::Tensor> (*run)(const at::Tensor& floats, const at::Tensor& flags);
  std::vector<Sizes> sizes;
};

std::vector<at::Tensor> three(const std::tuple<at::Tensor, at::Tensor, at::Tensor>& results) {
  return {std::get<0>(results), std::get<1>(results), std::get<2>(results)};
}

constexpr std::int64_t rows = 3, columns = 4, numel = rows * columns;

// `floats` and `flags` are [rows, columns].
const Case cases[] = {
    {"nonzero",
     [](const auto& x, const auto&) { return std::vector{at::nonzero(x)}; },
     {{numel, 2}}},
    {"masked_select",
     [](const auto& x, const auto& flags) { return std::vector{at::masked_select(x, flags[0])}; },
     {{numel}}},
    {"_unique2",
     [](const auto& x, const auto&) { return three(at::_unique2(x, true, true, true)); },
     {{numel}, {rows, columns}, {numel}}},
    {"_unique2 of elements alone",
     [](const auto& x, const auto&) { return three(at::_unique2(x, true, false, false)); },
     {{numel}, {0}, {0}}},
    {"unique_dim",
     [](const auto& x, const auto&) { return three(at::unique_dim(x, 1, true, true, true)); },
     {{rows, columns}, {columns}, {columns}}},
    {"unique_consecutive",
     [](const auto& x, const auto&) { return three(at::unique_consecutive(x, true, true, 0)); },
     {{rows, columns}, {rows}, {rows}}},
    {"index by a mask",
     [](const auto& x, const auto& flags) {
       return std::vector{at::index(x, {std::optional<at::Tensor>(flags)})};
     },
     {{numel}}},
    {"index of rows by a mask",
     [](const auto& x, const auto& flags) {
       return std::vector{at::index(x, {std::optional<at::Tensor>(flags.select(1, 0))})};
     },
     {{rows, columns}}},
    {"bincount",
     [](const auto& x, const auto&) {
       return std::vector{at::bincount(x.flatten().to(at::kLong))};
     },
     {{17}}},
    {"repeat_interleave",
     [](const auto& x, const auto&) {
       return std::vector{at::repeat_interleave(x, x.select(1, 0).to(at::kLong), 0)};
     },
     {{17, columns}}},
};

std::vector<at::Tensor> run(const Case& one, std::optional<std::int64_t> unbounded) {
  const auto observer = std::make_shared<Bounds>(unbounded);
  const meta::FakeMode mode({}, observer);
  return one.run(meta::make_fake(contiguous({rows, columns})),
                 meta::make_fake(contiguous({rows, columns}, DType::boolean)));
}

/// Marked rows of the table.
std::ptrdiff_t marked_rows(const Profile& profile) {
  const std::string mark = "≤ ";
  fmt::memory_buffer out;
  report::write_table(out, profile, {}, {}, report::default_columns(Optimizer::none), {});
  const std::string text = fmt::to_string(out), table = text.substr(0, text.find("\nstep"));
  std::ptrdiff_t marked = 0;
  for (std::size_t at = table.find(mark); at != table.npos; at = table.find(mark, at + 1)) ++marked;
  return marked;
}

std::string json_of(const Profile& profile) {
  fmt::memory_buffer out;
  report::write_json(out, profile, {});
  return fmt::to_string(out);
}

}  // namespace

TEST_SUITE("exported_unbacked") {
  TEST_CASE("operators with data-dependent output sizes return the upper bound") {
    for (const Case& one : cases) {
      CAPTURE(one.op);
      const std::vector<at::Tensor> results = run(one, 17);
      REQUIRE(results.size() == one.sizes.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        CHECK(results[i].sizes().vec() == one.sizes[i]);
    }
  }

  TEST_CASE("unbounded sizes are refused all the same") {
    for (const Case& one : cases) {
      if (one.sizes[0][0] != 17) continue;
      CAPTURE(one.op);
      const std::string text = message_of([&] { run(one, std::nullopt); });
      CHECK(text.find("There is no upper bound") != text.npos);
    }
  }

  TEST_CASE("an unbacked size that is not given is an error with advice") {
    const std::string text = message_of([] { profile_of("nonzero.pt2"); });
    CHECK(text.find("node nonzero (aten::nonzero, u0)") != text.npos);
    CHECK(text.find("unbacked=max") != text.npos);
    CHECK(text.find("sizes") != text.npos);
  }

  TEST_CASE("upper bounds and the rows that use them") {
    const Profile profile = profile_of("nonzero.pt2", {}, {.unbacked = UnbackedSizes::max});
    const std::int64_t most = 3 * layer_width;  // Each element of x.
    CHECK(profile.totals.fwd_flops == narrow(most) + 2 * wide(most));
    CHECK(bounded_nodes(profile) == Ops{"aten::nonzero", "aten::index"});
    REQUIRE(profile.warnings.size() == 1);
    CHECK(profile.warnings[0].find("2 rows") == 0);
    CHECK(marked_rows(profile) == 2);
    const std::string json = json_of(profile);
    CHECK(json.find(R"("op": "aten::nonzero", "upper_bound": true)") != json.npos);
    CHECK(json.find(R"("op": "aten::linear", "upper_bound")") == json.npos);
  }

  TEST_CASE("given sizes are not marked as bounds") {
    const Profile profile = profile_of("nonzero.pt2", {{"u0", 5}, {"u1", 2}});
    CHECK(profile.totals.fwd_flops == narrow(5) + 2 * wide(2));
    CHECK(bounded_nodes(profile).empty());
    CHECK(profile.warnings.empty());
    const Profile mixed = profile_of("nonzero.pt2", {{"u0", 5}}, {.unbacked = UnbackedSizes::max});
    CHECK(mixed.totals.fwd_flops == narrow(5) + 2 * wide(5));
    CHECK(bounded_nodes(mixed) == Ops{"aten::index"});
    const std::string text = message_of([] { profile_of("nonzero.pt2", {{"u0", 25}}); });
    CHECK(text.find("25 elements are given, and there are at most 24") != text.npos);
  }

  TEST_CASE("rows written under a mask are as many as it selects") {
    constexpr std::int64_t put = 2;
    GraphBuilder b;
    const ValueRef x{b.parameter("x", contiguous({3, layer_width}))};
    const ValueRef mask{b.input("mask", contiguous({3}, DType::boolean))};
    const ValueRef values{b.parameter("values", contiguous({put, layer_width}))};
    b.graph.outputs = {
        b.call("aten::index_put", "default", {x, std::vector<ListElement>{mask}, values})};
    const Profile profile = profile_of(b.graph);
    CHECK(bounded_nodes(profile) == Ops{});
    const auto is_gathered = [&](const CallRecord& call) {
      return call.phase == Phase::backward && !call.outputs.empty() &&
             profile.recording.specs.at(call.outputs[0].spec).sizes == Sizes{put, layer_width};
    };
    CHECK(std::ranges::any_of(profile.recording.calls, is_gathered));
  }

  TEST_CASE("numbers and sizes fixed by assertions are taken from the file") {
    const Profile profile = profile_of("checked.pt2");
    CHECK(profile.totals.fwd_flops == narrow(2));
    CHECK(bounded_nodes(profile) == Ops{});
    CHECK(profile.warnings.empty());
  }

  TEST_CASE("a number read from data is given, or the file's upper bound") {
    // The number's name in the file, for --set.
    CHECK(message_of([] { profile_of("item.pt2"); }).find("(aten::item, u0): ") !=
          std::string::npos);
    CHECK(profile_of("item.pt2", {{"u0", 7}}).totals.fwd_flops == narrow(7));
    const Profile most = profile_of("item.pt2", {}, {.unbacked = UnbackedSizes::max});
    CHECK(most.totals.fwd_flops == narrow(100));
    CHECK(bounded_nodes(most) == Ops{"aten::item"});
    CHECK(profile_of("item.pt2", {{"u0", 500}}).warnings.at(0) ==
          "u0 is 500; the graph was exported for 0 to 100.");
  }

  TEST_CASE("a bound for the example's shape does not apply to another shape") {
    Graph graph = test::load_tiny("nonzero.pt2");
    trace::bind_inputs(graph, {trace::parse_input_override("x=[6,8]")}, {});
    CHECK(profile_of(graph, {.unbacked = UnbackedSizes::max}).totals.fwd_flops ==
          narrow(48) + 2 * wide(48));
    graph = test::load_tiny("item.pt2");
    trace::bind_inputs(graph, {trace::parse_input_override("x=[6,8]")}, {});
    CHECK(profile_of(graph, {.unbacked = UnbackedSizes::max}).totals.fwd_flops == narrow(100));
  }

  TEST_CASE("ONNX operators with data-dependent output sizes") {
    const auto bounded = [](const char* op, std::initializer_list<ArgumentValue> arguments,
                            GraphBuilder& b) {
      b.graph.traits = trace::onnx_traits;
      b.graph.outputs = {b.call(op, "", arguments)};
      CHECK(message_of([&] { profile_of(b.graph); }).find("data-dependent shape") !=
            std::string::npos);
      const Profile profile = profile_of(b.graph, {.unbacked = UnbackedSizes::max});
      CHECK(bounded_nodes(profile) == Ops{op});
      for (const NodeRecord& node : profile.recording.nodes)
        if (node.op == op) return profile.recording.specs.at(node.outputs.at(0).spec).sizes;
      return Sizes{};
    };
    GraphBuilder a, b, c, d;
    CHECK(bounded("onnx::NonZero", {ValueRef{a.input("x", contiguous({3, 4}))}}, a) ==
          Sizes{2, 12});
    const ValueRef x{b.input("x", contiguous({3, 4}))};
    CHECK(bounded("onnx::Compress", {x, ValueRef{b.input("c", contiguous({9}, DType::boolean))}},
                  b) == Sizes{9});
    CHECK(bounded("onnx::Unique", {ValueRef{c.input("x", contiguous({3, 4}))}}, c) == Sizes{12});
    const ValueRef boxes{d.input("boxes", contiguous({2, 6, 4}))};
    const ValueRef scores{d.input("scores", contiguous({2, 3, 6}))};
    Value most{.name = "most", .kind = ValueKind::constant};
    auto four = std::make_shared<ConstantTensor>();
    four->spec = contiguous({}, DType::int64);
    four->data.resize(8);
    four->data[0] = std::byte{4};
    most.spec = four->spec;
    most.constant = four;
    const ValueRef per_class{d.graph.add_value(most)};
    CHECK(bounded("onnx::NonMaxSuppression", {boxes, scores, per_class}, d) == Sizes{2 * 3 * 4, 3});
  }
}

}  // namespace symprof::unbacked_sizes_test
