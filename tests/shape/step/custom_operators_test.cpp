// Custom operators of the calling process in files.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include <filesystem>

#include "profile/own_rules.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/exported_profile.h"
#include "trace/torchscript/load.h"

namespace symprof::custom_operators_test {
namespace {

using test::load_tiny;
using test::message_of;
using test::narrow;
using test::profile_of;

at::Tensor pool_pairs_shape(const at::Tensor& x) {
  return at::empty({x.size(0), x.size(1) / 2, x.size(2)}, x.options());
}

/// Registers the operator while it lives.
class PoolPairs {
 public:
  PoolPairs()
      : schema_(torch::Library::DEF, "acme", std::nullopt, __FILE__, __LINE__),
        shape_(torch::Library::IMPL, "acme", c10::DispatchKey::Meta, __FILE__, __LINE__) {
    schema_.def("pool_pairs(Tensor x) -> Tensor");
    shape_.impl("pool_pairs", &pool_pairs_shape);
  }

 private:
  torch::Library schema_, shape_;
};

profile::Estimate pool_pairs_cost(const profile::Call& call) {
  return profile::Estimate({.other_flops = 2 * call.output(0)->numel(),
                            .bytes_read = call.input(0)->bytes(),
                            .bytes_written = call.output(0)->bytes()});
}
constexpr profile::Rule acme_rows[] = {{"acme::pool_pairs", pool_pairs_cost}};
profile::Rules acme_rules() { return acme_rows; }

std::string script_path() {
  return (std::filesystem::path(test::source_folder()) / "models/tiny/custom_operator.pt").string();
}

constexpr std::int64_t rows = 2 * 6 / 2;  // Rows of x [2, 6, 8] after pooling pairs.

void check_profile(const Profile& profile) {
  CHECK(profile.totals.fwd_flops == narrow(rows));
  CHECK(profile.totals.bwd_flops == narrow(rows));
  CHECK(profile.coverage.unmodelled_ops == std::vector<std::string>{"acme::pool_pairs"});
}

}  // namespace

TEST_SUITE("exported_custom") {
  TEST_CASE("an undefined operator runs with the shapes of its file; a script has none") {
    check_profile(profile_of("custom_operator.pt2"));
    const std::string script = message_of([] { trace::load_torchscript(script_path(), {}); });
    CHECK(script.find("acme::pool_pairs") != script.npos);
    CHECK(script.find("docs/tutorial/own_operator.md") != script.npos);
  }

  TEST_CASE("with a schema and a Meta kernel a node runs, with unknown cost") {
    const PoolPairs op;
    check_profile(profile_of("custom_operator.pt2"));
    check_profile(profile_of(trace::load_torchscript(script_path(), {})));
  }

  TEST_CASE("with a cost rule the operator is counted") {
    const PoolPairs op;
    const profile::Family own[] = {{"acme", acme_rules}};
    StepOptions step;
    step.device =
        load_device((std::filesystem::path(test::source_folder()) / "devices/h200.json").string());
    Graph graph = load_tiny("custom_operator.pt2");
    trace::bind_inputs(graph, {}, {});
    const Profile profile =
        profile::evaluate(shape::propagate(graph, step), step.device, profile::OperatorTable(own));
    CHECK(profile.coverage.unmodelled == 0);
    const std::int64_t elements = rows * test::layer_width;
    CHECK(profile.totals.fwd_flops_all == narrow(rows) + 2 * elements);
  }
}

}  // namespace symprof::custom_operators_test
