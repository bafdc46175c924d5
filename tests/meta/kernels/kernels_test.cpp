// Every row runs on the CPU and on tensors without storage; sizes, strides and dtype must match.
// Rows are calls whose outputs have the same layout on the CPU and on CUDA.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/support/torch/same_layout.h"

namespace {

using symprof::tests::check_same_layout;
using symprof::tests::Row;
using A = const symprof::tests::Arguments&;

const Row elementwise[] = {
    {"relu",
     [](A a) {
       return at::relu(a.real({2, 3}).t());
     }},
    {"hardswish",
     [](A a) {
       return at::hardswish(a.channels_last({2, 3, 4, 4}));
     }},
    {"hardtanh",
     [](A a) {
       return at::hardtanh(a.real({2, 3}));
     }},
    {"hardswish_backward",
     [](A a) {
       return at::hardswish_backward(a.real({2, 3}), a.real({2, 3}));
     }},
    {"logit",
     [](A a) {
       return at::logit(a.real({2, 3}));
     }},
    {"prelu",
     [](A a) {
       return at::prelu(a.real({2, 3, 4}), a.real({3}));
     }},
    {"glu_backward",
     [](A a) {
       return at::glu_backward(a.real({2, 2}), a.real({2, 4}), 1);
     }},
    {"abs",
     [](A a) {
       return at::abs(a.real({2, 3}).t());
     }},
    {"abs of complex",
     [](A a) {
       return at::abs(a.complex({2, 3}));
     }},
    {"angle",
     [](A a) {
       return at::angle(a.complex({2, 3}));
     }},
    {"isnan",
     [](A a) {
       return at::isnan(a.real({2, 3}));
     }},
    {"nan_to_num",
     [](A a) {
       return at::nan_to_num(a.real({2, 3}));
     }},
    {"logical_not",
     [](A a) {
       return at::logical_not(a.real({2, 3}));
     }},
    {"logical_and",
     [](A a) {
       return at::logical_and(a.real({2, 1}), a.flags({3}));
     }},
    {"floor_divide",
     [](A a) {
       return at::floor_divide(a.real({2, 3}), a.real({3}));
     }},
    {"rsub",
     [](A a) {
       return at::rsub(a.index({2, 3}), a.real({3}));
     }},
    {"shift",
     [](A a) {
       return at::__lshift__(a.index({2, 3}), 2);
     }},
    {"where",
     [](A a) {
       return at::where(a.flags({4, 1}), a.real({4, 3}), a.index({3}));
     }},
    {"where, number",
     [](A a) {
       return at::where(a.flags({4, 3}), a.real({3}), 0.5);
     }},
    {"polar",
     [](A a) {
       return at::polar(a.real({2, 3}), a.real({2, 3}));
     }},
    {"frexp",
     [](A a) {
       return at::frexp(a.real({2, 3}));
     }},
    {"poisson",
     [](A a) {
       return at::poisson(a.real({2, 3}));
     }},
    {"bernoulli",
     [](A a) {
       return at::bernoulli(a.real({2, 3}));
     }},
    {"multinomial",
     [](A a) {
       return at::multinomial(a.real({2, 5}), 3);
     }},
};

const Row reductions[] = {
    {"max",
     [](A a) {
       return at::max(a.real({2, 3}));
     }},
    {"median",
     [](A a) {
       return at::median(a.real({2, 3, 4}), 1, true);
     }},
    {"kthvalue",
     [](A a) {
       return at::kthvalue(a.real({2, 3, 4}), 2, 1, false);
     }},
    {"mode",
     [](A a) {
       return at::mode(a.real({2, 3, 4}), -1, false);
     }},
    {"aminmax",
     [](A a) {
       return at::aminmax(a.real({2, 3}), 1, true);
     }},
    {"prod of integers",
     [](A a) {
       return at::prod(a.index({2, 3}).to(at::kInt));
     }},
    {"nansum",
     [](A a) {
       return at::nansum(a.real({2, 3, 4}), {0, 2}, true);
     }},
    {"std",
     [](A a) {
       return at::std(a.real({2, 3, 4}), {1}, 1, true);
     }},
    {"var over everything",
     [](A a) {
       return at::var(a.real({2, 3}), false);
     }},
    {"var of complex",
     [](A a) {
       return at::var(a.complex({2, 3}), {1}, 1, false);
     }},
    {"var_mean",
     [](A a) {
       return at::var_mean(a.real({2, 3, 4}), {0, 1}, 0, false);
     }},
    {"count_nonzero",
     [](A a) {
       return at::count_nonzero(a.real({2, 3, 4}), at::IntArrayRef{1});
     }},
    {"cummax",
     [](A a) {
       return at::cummax(a.real({2, 3}), 1);
     }},
    {"logcumsumexp",
     [](A a) {
       return at::logcumsumexp(a.real({2, 3}), 1);
     }},
    {"histc", [](A a) { return at::histc(a.real({20}), 7); }},
    {"dot", [](A a) { return at::dot(a.real({5}), a.real({5})); }},
    {"trace",
     [](A a) {
       return at::trace(a.index({3, 4}));
     }},
};

const Row selections[] = {
    {"index_select",
     [](A a) {
       return at::index_select(a.real({4, 3, 5}).transpose(0, 2), 1, a.index({7}));
     }},
    {"embedding",
     [](A a) {
       return at::embedding(a.real({9, 4}), a.index({2, 3}));
     }},
    {"embedding_dense_backward",
     [](A a) {
       return at::embedding_dense_backward(a.real({2, 3, 4}), a.index({2, 3}), 9, -1, false);
     }},
    {"take",
     [](A a) {
       return at::take(a.real({4, 3}), a.index({2, 2}));
     }},
    {"flip",
     [](A a) {
       return at::flip(a.real({4, 3}).t(), {0});
     }},
    {"roll",
     [](A a) {
       return at::roll(a.real({4, 3}).t(), 1, 0);
     }},
    {"gather",
     [](A a) {
       return at::gather(a.real({4, 3}), 1, a.index({4, 2}));
     }},
    {"scatter_add",
     [](A a) {
       return a.real({4, 3}).scatter_add(1, a.index({4, 2}), a.real({4, 2}));
     }},
    {"index",
     [](A a) {
       return a.real({4, 3}).index({a.index({2, 5})});
     }},
    {"index_put",
     [](A a) {
       return a.real({4, 3}).index_put({a.index({2})}, a.real({2, 3}), true);
     }},
    {"masked_fill",
     [](A a) {
       return a.real({4, 3}).masked_fill(a.flags({3}), 0);
     }},
    {"searchsorted",
     [](A a) {
       return at::searchsorted(a.real({9}), a.real({2, 3}));
     }},
    {"bucketize",
     [](A a) {
       return at::bucketize(a.real({2, 3}), a.real({9}), true);
     }},
    {"tril_indices",
     [](A a) { return at::tril_indices(4, 5, 1, at::TensorOptions(a.device).dtype(at::kLong)); }},
    {"triu_indices",
     [](A a) { return at::triu_indices(4, 5, -1, at::TensorOptions(a.device).dtype(at::kLong)); }},
};

}  // namespace

TEST_SUITE("kernels") {
  TEST_CASE("elementwise operators") {
    for (const Row& row : elementwise) check_same_layout(row);
  }
  TEST_CASE("reductions") {
    for (const Row& row : reductions) check_same_layout(row);
  }
  TEST_CASE("selection and rearrangement") {
    for (const Row& row : selections) check_same_layout(row);
  }
}
