// As kernels_test.cpp: images, losses and linear algebra.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/support/torch/same_layout.h"

namespace {

using symprof::tests::check_same_layout;
using symprof::tests::Row;
using A = const symprof::tests::Arguments&;

constexpr auto none = at::Reduction::None, mean = at::Reduction::Mean;

const Row images[] = {
    {"conv2d",
     [](A a) {
       return at::conv2d(a.real({2, 4, 9, 8}), a.real({6, 2, 3, 3}), a.real({6}), {2, 1}, {1, 0},
                         {1, 2}, 2);
     }},
    {"conv2d, channels last",
     [](A a) {
       return at::conv2d(a.channels_last({2, 4, 9, 8}), a.real({6, 4, 3, 3}));
     }},
    {"conv1d",
     [](A a) {
       return at::conv1d(a.real({2, 4, 9}), a.real({6, 4, 3}));
     }},
    {"conv3d",
     [](A a) {
       return at::conv3d(a.real({2, 4, 5, 6, 7}), a.real({6, 4, 3, 3, 3}));
     }},
    {"conv_transpose2d",
     [](A a) {
       return at::conv_transpose2d(a.real({2, 4, 5, 6}), a.real({4, 3, 3, 3}), {}, 2, 1, 1);
     }},
    {"adaptive_avg_pool2d",
     [](A a) {
       return at::adaptive_avg_pool2d(a.channels_last({2, 4, 9, 8}), {3, 2});
     }},
    {"adaptive_avg_pool3d",
     [](A a) {
       return at::adaptive_avg_pool3d(a.real({2, 4, 9, 8, 7}), {3, 2, 4});
     }},
    {"max_pool2d",
     [](A a) {
       return at::max_pool2d_with_indices(a.channels_last({2, 4, 9, 8}), 3, 2, 1);
     }},
    {"max_pool3d",
     [](A a) {
       return at::max_pool3d_with_indices(a.real({2, 4, 9, 8, 7}), 3, 2, 1, 1, true);
     }},
    {"max_unpool2d",
     [](A a) {
       return at::max_unpool2d(a.real({1, 2, 2, 2}),
                               at::arange(8, a.index({1}).options()).view({1, 2, 2, 2}), {4, 4});
     }},
    {"reflection_pad2d",
     [](A a) {
       return at::reflection_pad2d(a.real({2, 3, 5, 6}), {1, 2, 3, 4});
     }},
    {"grid_sampler",
     [](A a) {
       return at::grid_sampler(a.real({2, 3, 5, 6}), a.real({2, 7, 8, 2}), 0, 0, false);
     }},
    {"im2col",
     [](A a) {
       return at::im2col(a.real({2, 3, 8, 9}), {3, 2}, {1, 1}, {1, 1}, {2, 2});
     }},
    {"col2im",
     [](A a) {
       return at::col2im(a.real({2, 12, 20}), {5, 6}, {2, 2}, {1, 1}, {0, 0}, {1, 1});
     }},
    {"channel_shuffle",
     [](A a) {
       return at::channel_shuffle(a.real({2, 4, 3, 3}), 2);
     }},
};

const Row losses[] = {
    {"bce, none",
     [](A a) {
       return at::binary_cross_entropy(a.real({2, 3}), a.real({2, 3}), {}, none);
     }},
    {"bce, mean",
     [](A a) {
       return at::binary_cross_entropy(a.real({2, 3}), a.real({2, 3}), {}, mean);
     }},
    {"huber",
     [](A a) {
       return at::huber_loss(a.real({2, 3}), a.real({2, 3}), none, 1);
     }},
    {"mse_loss_backward",
     [](A a) {
       return at::mse_loss_backward(a.real({}), a.real({2, 3}), a.real({2, 3}), mean);
     }},
    {"smooth_l1_loss_backward",
     [](A a) {
       return at::smooth_l1_loss_backward(a.real({}), a.real({2, 3}), a.real({2, 3}), mean, 1);
     }},
    {"nll_loss2d",
     [](A a) {
       return (at::nll_loss2d_forward(a.real({2, 3, 4, 5}), a.index({2, 4, 5}), {}, mean, -100));
     }},
    {"nll_loss",
     [](A a) {
       return at::nll_loss_forward(a.real({4, 3}), a.index({4}), {}, none, -100);
     }},
    {"multi_margin_loss",
     [](A a) {
       return at::multi_margin_loss(a.real({4, 3}), a.index({4}), 1, 1, {}, none);
     }},
};

const Row linear_algebra[] = {
    {"addbmm",
     [](A a) {
       return at::addbmm(a.real({3, 5}), a.real({2, 3, 4}), a.real({2, 4, 5}));
     }},
    {"cholesky_solve",
     [](A a) {
       return at::cholesky_solve(a.real({2, 3, 5}), a.real({2, 3, 3}));
     }},
    {"matrix_exp",
     [](A a) {
       return at::matrix_exp(a.real({2, 3, 3}));
     }},
    {"solve_triangular",
     [](A a) {
       return at::linalg_solve_triangular(a.real({3, 3}), a.real({3, 4}), true);
     }},
    {"geqrf",
     [](A a) {
       return at::geqrf(a.real({2, 5, 3}));
     }},
    {"linalg_eig",
     [](A a) {
       return at::linalg_eig(a.real({2, 3, 3}));
     }},
    {"cdist",
     [](A a) {
       return at::cdist(a.real({2, 5, 3}), a.real({2, 7, 3}));
     }},
    {"pdist",
     [](A a) {
       return at::pdist(a.real({5, 3}));
     }},
    {"rfft",
     [](A a) {
       return at::fft_rfft(a.real({4, 9}));
     }},
    {"irfft",
     [](A a) {
       return at::fft_irfft(a.complex({4, 9}));
     }},
    {"fft2",
     [](A a) {
       return at::fft_fft2(a.complex({2, 4, 9}));
     }},
};

}  // namespace

TEST_SUITE("kernels_dense") {
  TEST_CASE("images") {
    for (const Row& row : images) check_same_layout(row);
  }
  TEST_CASE("losses") {
    for (const Row& row : losses) check_same_layout(row);
  }
  TEST_CASE("linear algebra and transforms") {
    for (const Row& row : linear_algebra) check_same_layout(row);
  }
}
