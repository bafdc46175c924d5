#include "meta/fake/known_values.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/host_inputs.h"
#include "meta/fake/silent_observer.h"

namespace symprof::known_values_test {
namespace {

using at::Tensor;
using Numbers = std::vector<std::int64_t>;

std::shared_ptr<meta::Observer> following() {
  auto observer = std::make_shared<meta::SilentObserver>();
  observer->follow_values();
  return observer;
}

Tensor given(const Numbers& numbers) {
  const Tensor values = at::tensor(numbers, at::TensorOptions(at::kLong).device(at::kCPU));
  const Tensor fake =
      meta::make_fake({.dtype = DType::int64, .sizes = values.sizes().vec(), .strides = {1}});
  meta::give_values(fake, values);
  return fake;
}

Tensor unknown(const Numbers& sizes, DType dtype = DType::int64) {
  return meta::make_fake({.dtype = dtype, .sizes = sizes, .strides = contiguous_strides(sizes)});
}

/// The values of a tensor; empty if unknown.
Numbers values_of(const Tensor& tensor) {
  const auto known = meta::known_values(tensor);
  if (!known) return {};
  const Tensor flat = known->to(at::kLong).flatten().contiguous();
  return {flat.const_data_ptr<std::int64_t>(), flat.const_data_ptr<std::int64_t>() + flat.numel()};
}

}  // namespace

TEST_SUITE("known_values") {
  TEST_CASE("a tensor with known values is on the device as any other") {
    const meta::FakeMode mode({}, following());
    const Tensor lengths = given({5, 3, 2});
    CHECK(meta::is_fake(lengths));
    CHECK(lengths.is_cuda());
    CHECK(values_of(lengths) == Numbers{5, 3, 2});
    CHECK(values_of(unknown({3})).empty());
  }

  TEST_CASE("values propagate through arithmetic, and numbers can be read") {
    const meta::FakeMode mode({}, following());
    const Tensor lengths = given({5, 3, 2});
    CHECK(values_of(lengths.cumsum(0)) == Numbers{5, 8, 10});
    CHECK(lengths.max().item<std::int64_t>() == 5);
    CHECK(lengths.sum().to(at::kDouble).div(4).ceil().item<double>() == 3);
    CHECK((lengths > 2).all().item<bool>() == false);
    const Tensor mask = at::arange(5, lengths.options()).lt(lengths.unsqueeze(1));
    CHECK(values_of(mask.sum(1)) == Numbers{5, 3, 2});
    CHECK(at::nonzero(mask).size(0) == 5 + 3 + 2);
  }

  TEST_CASE("data-dependent sizes follow from known values") {
    const meta::FakeMode mode({}, following());
    const Tensor lengths = given({5, 3, 2}), rows = unknown({3, 4}, DType::float32);
    CHECK(at::repeat_interleave(rows, lengths, 0).size(0) == 10);
    CHECK(at::bincount(lengths).size(0) == 6);
    CHECK(at::masked_select(rows, (lengths > 2).unsqueeze(1)).size(0) == 2 * 4);
    CHECK(std::get<0>(at::_unique2(given({2, 1, 2}))).size(0) == 2);
    CHECK(std::get<0>(at::unique_consecutive(given({2, 2, 1, 2}))).size(0) == 3);
    CHECK(at::equal(lengths, given({5, 3, 2})));
    CHECK_FALSE(at::equal(lengths, given({5, 3, 1})));
  }

  TEST_CASE("views share their base's values and see writes") {
    const meta::FakeMode mode({}, following());
    const Tensor lengths = given({5, 3, 2});
    const Tensor last = lengths.narrow(0, 1, 2);
    CHECK(values_of(last) == Numbers{3, 2});
    last.add_(1);
    CHECK(values_of(lengths) == Numbers{5, 4, 3});
    CHECK(values_of(lengths.unsqueeze(1).expand({3, 2})) == Numbers{5, 5, 4, 4, 3, 3});
    lengths.unsqueeze_(0);
    CHECK(values_of(lengths) == Numbers{5, 4, 3});
    lengths.select(1, 0).copy_(unknown({1}));
    CHECK(values_of(lengths).empty());
    CHECK(values_of(last) == Numbers{4, 3});  // The write is to earlier elements.
  }

  TEST_CASE("given tensors are not modified") {
    const meta::FakeMode mode({}, following());
    const Tensor real = at::ones({2}, at::TensorOptions(at::kLong).device(at::kCPU));
    const Tensor fake = unknown({2});
    meta::give_values(fake, real);
    fake.add_(1);
    CHECK(values_of(fake) == Numbers{2, 2});
    CHECK(values_of(real) == Numbers{1, 1});
  }

  TEST_CASE("an unknown operand or a random operator makes the result unknown") {
    const meta::FakeMode mode({}, following());
    const Tensor lengths = given({5, 3, 2});
    CHECK(values_of(lengths + unknown({3})).empty());
    CHECK(values_of(at::rand({3}, lengths.options().dtype(at::kFloat))).empty());
    CHECK(values_of(at::ones_like(unknown({3}))) == Numbers{1, 1, 1});
    Tensor room = at::empty({3}, lengths.options());
    CHECK(values_of(room.fill_(7)) == Numbers{7, 7, 7});
  }

  TEST_CASE("a large result is not evaluated") {
    const meta::FakeMode mode({}, following());
    const std::int64_t side = 1 << 11;
    static_assert((std::int64_t{1} << 22) > meta::most_followed_elements);
    const Tensor row = at::arange(side, at::TensorOptions(at::kCUDA).dtype(at::kLong));
    CHECK_FALSE(values_of(row).empty());
    const Tensor table = row + row.unsqueeze(1);
    CHECK(values_of(table).empty());
    Tensor written = row.clone();
    CHECK_FALSE(values_of(written.add_(row)).empty());
  }

  TEST_CASE("values are not propagated unless the observer asks for it") {
    const meta::FakeMode mode({}, std::make_shared<meta::SilentObserver>());
    CHECK(values_of(at::arange(3, at::TensorOptions(at::kCUDA).dtype(at::kLong))).empty());
  }

  TEST_CASE("packed sequences have the rows given by their lengths") {
    const meta::FakeMode mode({}, following());
    const Tensor x = unknown({3, 6, 8}, DType::float32);
    const auto [rows, batches] = at::_pack_padded_sequence(x, given({5, 3, 2}), true);
    CHECK(rows.sizes() == at::IntArrayRef({10, 8}));
    CHECK(values_of(batches) == Numbers{3, 3, 2, 1, 1});
    CHECK_THROWS_AS(at::_pack_padded_sequence(x, unknown({3}), true), Error);
  }

  TEST_CASE("a list is made only from known values") {
    const meta::FakeMode mode({}, following());
    std::vector<c10::IValue> known{given({5, 3}), 1, 0}, none{unknown({2}), 1, 0};
    meta::move_host_inputs("prim::tolist", known);
    CHECK_FALSE(meta::is_fake(known[0].toTensor()));
    CHECK_THROWS_AS(meta::move_host_inputs("prim::tolist", none), Error);
  }
}

}  // namespace symprof::known_values_test
