#include <doctest/doctest.h>

#include "tests/support/launches.h"

namespace symprof::test::matmul_launches_test {

using namespace symprof::profile;

constexpr auto half = DType::bfloat16;

TEST_SUITE("matmul_launches") {
  TEST_CASE("a product has its sizes, its dtype's class, and the common batch") {
    const auto launches = launches_of("aten::bmm", {t({6, 3, 5}, half), t({6, 5, 7}, half)},
                                      {tensor({6, 3, 7}, half)});
    const ProductWork work{
        .batch = 6, .m = 3, .n = 7, .k = 5, .alignment = 2, .layout = ProductLayout::mixed};
    CHECK(launches->kernels == std::vector<Kernel>{{TimeClass::product_16bit, work}});
    const auto fp32 = launches_of("aten::mm", {t({3, 5}), t({5, 7})}, {tensor({3, 7})});
    CHECK(fp32->kernels[0].time_class == TimeClass::product_fp32);
    CHECK(std::get<ProductWork>(fp32->kernels[0].work).operand_bytes == 4);
  }

  TEST_CASE("fp32 uses TF32 if the call allows it and the device supports it") {
    const auto class_of = [](DType dtype, const DeviceSpec& device) {
      RecordingBuilder b;
      b.call("aten::mm", {t({3, 5}, dtype), t({5, 7}, dtype)}, {tensor({3, 7}, dtype)},
             b.node("node"));
      b.recording().calls.back().tf32_products = true;
      return launches_of(b, device)->kernels[0].time_class;
    };
    CHECK(class_of(DType::float32, modern_device()) == TimeClass::product_tf32);
    CHECK(class_of(DType::float32, device_with({"float32"})) == TimeClass::product_fp32);
    CHECK(class_of(half, modern_device()) == TimeClass::product_16bit);
  }

  TEST_CASE("a dtype that the device does not support has no time") {
    const DeviceSpec t4 = device_with({"float32", "float16"});
    const std::vector<TestArgument> arguments = {t({3, 5}, half), t({5, 7}, half)};
    CHECK_FALSE(launches_of("aten::mm", arguments, {tensor({3, 7}, half)}, t4));
    CHECK(launches_of("aten::mm", arguments, {tensor({3, 7}, half)}));
  }

  TEST_CASE("a parameter alternates with other layers' weights") {
    RecordingBuilder b;
    const NodeId node = b.node("node");
    const TensorRecord x = b.fresh(tensor({3, 5}, half));
    const TensorRecord w = b.fresh(tensor({5, 7}, half), {.kind = StorageKind::parameter});
    const TensorRecord y = b.fresh(tensor({3, 7}, half));
    b.call_on("aten::mm", {x, w}, {y}, node);
    CHECK(std::get<ProductWork>(launches_of(b)->kernels[0].work).weight_sets == 6);
    const TensorRecord left = b.fresh(tensor({3, 5}, half), {.kind = StorageKind::parameter});
    const TensorRecord right = b.fresh(tensor({5, 7}, half));
    b.call_on("aten::mm", {left, right}, {y}, node);
    const ProductWork turned{
        .m = 7, .n = 3, .k = 5, .weight_sets = 6, .alignment = 2, .layout = ProductLayout::mixed};
    CHECK(std::get<ProductWork>(launches_of(b)->kernels[0].work) == turned);
  }

  TEST_CASE(
      "contiguous along k: both operands of a layer, one of its input gradient, none of its weight "
      "gradient") {
    const auto layout = [](bool left, bool right) {
      TensorSpec a = tensor({64, 256}), b = tensor({256, 96});
      if (left) a.strides = {1, 64};
      if (right) b.strides = {1, 256};
      RecordingBuilder builder;
      builder.call("aten::mm", {TestArgument{{a}, {}}, TestArgument{{b}, {}}}, {tensor({64, 96})},
                   builder.node("node"));
      return std::get<ProductWork>(launches_of(builder, modern_device())->kernels.at(0).work)
          .layout;
    };
    CHECK(layout(false, true) == ProductLayout::along);
    CHECK(layout(false, false) == ProductLayout::mixed);
    CHECK(layout(true, true) == ProductLayout::mixed);
    CHECK(layout(true, false) == ProductLayout::across);
  }

  TEST_CASE("on Hopper small fp32 layers with a bias use special cuBLAS kernels") {
    const auto kernel = [](std::int64_t rows, std::int64_t into, std::int64_t out, int major = 9,
                           DType dtype = DType::float32) {
      DeviceSpec device = modern_device();
      device.compute_major = major;
      return launches_of("aten::addmm",
                         {t({out}, dtype), t({rows, into}, dtype), t({into, out}, dtype)},
                         {tensor({rows, out}, dtype)}, device)
          ->kernels.at(0);
    };
    const auto of = [](const Kernel& one) { return std::get<ProductWork>(one.work).kernel; };
    const Kernel small = kernel(64, 64, 64);
    CHECK(of(small) == ProductKernel::large_k);
    CHECK(small.launches == 4);  // Memory is cleared and scaled before it, the bias added after.
    CHECK(of(kernel(16, 64, 64)) == ProductKernel::few_rows);
    CHECK(of(kernel(128, 128, 128)) == ProductKernel::usual);
    CHECK(of(kernel(128, 16, 1024)) == ProductKernel::large_k);
    CHECK(of(kernel(1024, 128, 16)) == ProductKernel::usual);  // Equal FLOPs, longer k.
    CHECK(kernel(128, 128, 128).launches == 1);
    CHECK(of(kernel(64, 64, 64, 8)) == ProductKernel::usual);
    CHECK(of(kernel(64, 64, 64, 9, half)) == ProductKernel::usual);
    const auto without_bias =
        launches_of("aten::mm", {t({64, 64}), t({64, 64})}, {tensor({64, 64})});
    CHECK(of(without_bias->kernels.at(0)) == ProductKernel::usual);
    const auto one_row = launches_of("aten::mm", {t({1, 64}), t({64, 64})}, {tensor({1, 64})});
    CHECK(of(one_row->kernels.at(0)) == ProductKernel::few_rows);
  }
}

}  // namespace symprof::test::matmul_launches_test
