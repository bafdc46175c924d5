// Rules of dense linear algebra: the leading term of the usual algorithm, written out.
#include <doctest/doctest.h>

#include "profile/operators/operators.h"
#include "tests/support/rule_cases.h"

namespace symprof::test::linalg_test {
namespace {

constexpr std::int64_t B = 2, M = 6, N = 3, K = 5;

std::int64_t flops_of(const char* op, const std::vector<TestArgument>& arguments,
                      const std::vector<TensorSpec>& outputs) {
  const Cost cost = cost_of({op, arguments, outputs});
  CHECK(profile::find_operator(op).flops->confidence == Confidence::modelled);
  return cost.product_flops + cost.other_flops;
}

}  // namespace

TEST_SUITE("flops_linear_algebra") {
  TEST_CASE("least squares by QR takes 2·m·n², eigenvalues take 10·n³") {
    CHECK(flops_of("aten::linalg_lstsq", {t({B, M, N}), t({B, M, K})}, {tensor({B, N, K})}) ==
          B * 2 * M * N * N);
    CHECK(flops_of("aten::linalg_eigvals", {t({B, N, N})}, {tensor({B, N})}) == B * 10 * N * N * N);
  }

  TEST_CASE("two triangular solves for each right-hand side") {
    CHECK(flops_of("aten::linalg_ldl_solve", {t({N, N}), t({N}), t({N, K})}, {tensor({N, K})}) ==
          2 * N * N * K);
  }

  TEST_CASE("pairwise distances: 3 FLOPs per pair and dimension, 4 backward") {
    constexpr std::int64_t pairs = M * (M - 1) / 2;
    CHECK(flops_of("aten::_pdist_forward", {t({M, N})}, {tensor({pairs})}) == 3 * pairs * N);
    CHECK(flops_of("aten::_pdist_backward", {t({pairs}), t({M, N}), nothing(), t({pairs})},
                   {tensor({M, N})}) == 4 * pairs * N);
  }
}

}  // namespace symprof::test::linalg_test
