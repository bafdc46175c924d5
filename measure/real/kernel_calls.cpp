#include "measure/real/kernel_calls.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "measure/real/function_calls.h"
#include "profile/time/sweep.h"

namespace symprof::measure::real {
namespace {

using profile::AttentionWork;
using profile::ConvolutionPass;
using profile::ConvolutionWork;
using profile::Kernel;
using profile::ProductLayout;
using profile::ProductWork;
using profile::RowWork;
using profile::StreamWork;
using profile::TimeClass;

constexpr std::int64_t fp32_bytes = 4;
constexpr std::int64_t drawn_numbers = 1 << 16;

/// Makes the operands of calls.
struct Operands {
  c10::Device device;
  at::ScalarType type = at::kFloat;

  at::Tensor of(at::IntArrayRef sizes) const {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
    const std::int64_t count = c10::multiply_integers(sizes);
    if (count <= drawn_numbers || !device.is_cpu()) return at::randn(sizes, options).to(type);
    // On a CPU, drawing numbers is slower than most kernels: a few numbers are repeated.
    const at::Tensor some = at::randn({drawn_numbers}, options);
    const std::int64_t times = (count + drawn_numbers - 1) / drawn_numbers;
    return some.repeat({times}).narrow(0, 0, count).view(sizes).to(type);
  }
  at::Tensor ones(at::IntArrayRef sizes) const {
    return at::ones(sizes, at::TensorOptions().dtype(type).device(device));
  }
  at::Tensor below(std::int64_t bound, at::IntArrayRef sizes) const {
    return at::randint(bound, sizes, at::TensorOptions().dtype(at::kLong).device(device));
  }
};

std::int64_t at_least_one(std::int64_t size) { return std::max<std::int64_t>(size, 1); }

/// Residual sums, gates, scales, and the simplest activation with its gradient: the typical
/// memory-bound element-wise kernels of networks. On a GPU also one compute-bound function. Kernels
/// without vector loads have their own rules (profile/cost/time/launches.h).
KernelCall elementwise_call(std::int64_t bytes, const Operands& make) {
  constexpr std::uint32_t kinds = 5;
  const auto numbers = [&](std::int64_t tensors) {
    return at_least_one(bytes / (tensors * static_cast<std::int64_t>(at::elementSize(make.type))));
  };
  const std::uint32_t kind =
      make.device.is_cpu() ? bytes / fp32_bytes % kinds : profile::drawn_by(bytes) % (kinds + 1);
  if (kind == kinds) return [a = make.of({numbers(2)})] { return at::gelu(a); };
  switch (kind) {
    case 0:
      return [a = make.of({numbers(3)}), b = make.of({numbers(3)})] { return at::add(a, b); };
    case 1:
      return [a = make.of({numbers(2)})] { return at::mul(a, 0.5); };
    case 2:
      return [a = make.of({numbers(3)}), b = make.of({numbers(3)})] {
        return at::threshold_backward(a, b, 0);
      };
    case 3:
      return [a = make.of({numbers(2)})]() mutable { return a.relu_(); };
    default:
      return [a = make.of({numbers(3)}), b = make.of({numbers(3)})] { return at::mul(a, b); };
  }
}

/// Swaps heads and positions. A single position needs no copy. On a GPU the class is for
/// transposing copies: rows become columns.
KernelCall copy_call(std::int64_t bytes, const Operands& make) {
  constexpr std::int64_t columns = 512;
  const std::int64_t rows = bytes / (2 * fp32_bytes * columns);
  if (!make.device.is_cpu())
    return rows < 2 ? KernelCall() : [a = make.of({rows, columns})] { return a.t().contiguous(); };
  constexpr std::int64_t heads = 8, head_dim = 16;
  const std::int64_t positions = bytes / (2 * fp32_bytes * heads * head_dim);
  if (positions < 2) return {};
  return [a = make.of({positions, heads, head_dim})] { return a.transpose(0, 1).contiguous(); };
}

/// Max pooling, window 3, stride 2: 4 bytes per input, 4 + 8 (value, index) per four inputs.
KernelCall pooling_call(std::int64_t bytes, const Operands& make) {
  constexpr std::int64_t channels = 64, bytes_of_number = 7;
  const double positions = static_cast<double>(bytes) / (bytes_of_number * channels);
  const std::int64_t side = std::max<std::int64_t>(std::llround(std::sqrt(positions)), 4);
  return [a = make.of({1, channels, side, side})] {
    return std::get<0>(at::max_pool2d_with_indices(a, {3, 3}, {2, 2}, {1, 1}));
  };
}

KernelCall gather_call(std::int64_t bytes, const Operands& make) {
  constexpr std::int64_t width = 256;
  const std::int64_t rows = at_least_one(bytes / (2 * fp32_bytes * width));
  return [table = make.of({rows, width}), places = make.below(rows, {rows})] {
    return at::index_select(table, 0, places);
  };
}

KernelCall sort_call(std::int64_t bytes, const Operands& make) {
  constexpr std::int64_t bytes_of_number = 8 * (4 + 4 + 8);  // Eight passes over keys and indices.
  return
      [a = make.of({at_least_one(bytes / bytes_of_number)})] { return std::get<0>(at::sort(a)); };
}

/// An in-place foreach sum, as in optimizers.
KernelCall optimizer_call(std::int64_t bytes, const Operands& make) {
  constexpr std::int64_t tensors = 16;
  const std::int64_t numbers = at_least_one(bytes / (3 * fp32_bytes * tensors));
  std::vector<at::Tensor> a, b;
  for (std::int64_t i = 0; i < tensors; ++i)
    a.push_back(make.of({numbers})), b.push_back(make.of({numbers}));
  return [a, b] {
    at::_foreach_add_(a, b, 0.001);
    return at::Tensor();
  };
}

/// Per element: 4 bytes read, 4 written, and a mask byte.
KernelCall random_call(std::int64_t bytes, const Operands& make) {
  return [a = make.of({at_least_one(bytes / 9)})] { return at::dropout(a, 0.1, true); };
}

/// Alternates host-to-device and device-to-host copies, with pinned memory, which the device
/// accesses directly.
KernelCall transfer_call(std::int64_t bytes, const Operands& make) {
  const std::int64_t count = at_least_one(bytes / fp32_bytes);
  const at::Tensor there = make.of({count});
  const at::Tensor here = at::zeros({count}, at::TensorOptions().pinned_memory(true));
  const bool comes = bytes / fp32_bytes % 2 == 0;
  return [=] { return comes ? there.copy_(here, true) : here.copy_(there, true); };
}

KernelCall stream_call(TimeClass time_class, std::int64_t bytes, const Operands& make) {
  switch (time_class) {
    case TimeClass::elementwise:
      return elementwise_call(bytes, make);
    case TimeClass::copy:
      return copy_call(bytes, make);
    case TimeClass::pooling:
      return pooling_call(bytes, make);
    case TimeClass::gather:
      return gather_call(bytes, make);
    case TimeClass::sort:
      return sort_call(bytes, make);
    case TimeClass::optimizer:
      return optimizer_call(bytes, make);
    case TimeClass::random:
      return random_call(bytes, make);
    case TimeClass::transfer:
      return transfer_call(bytes, make);
    default:
      return {};
  }
}

/// Batch norm in training. A backward row has a channel's elements of two tensors.
KernelCall batch_norm_call(TimeClass time_class, const RowWork& work, const Operands& make) {
  constexpr std::int64_t forward_bytes = 12;
  const std::int64_t channels = work.rows;
  const std::int64_t bytes = work.bytes / (work.rows * work.length);
  const bool is_forward =
      bytes * fp32_bytes >= forward_bytes * static_cast<std::int64_t>(at::elementSize(make.type));
  const std::int64_t length = is_forward ? work.length : work.length / 2;
  const std::int64_t images = std::clamp<std::int64_t>(length / 512, 1, 16);
  const at::Tensor a = make.of({images, channels, at_least_one(length / images)});
  const Operands make_own{make.device};  // fp32 under autocast too.
  const at::Tensor weight = make_own.ones({channels}), bias = make_own.of({channels});
  const at::Tensor mean = make_own.of({channels}), variance = make_own.ones({channels});
  constexpr double momentum = 0.1, epsilon = 1e-5;
  const bool is_cudnn = time_class == TimeClass::batch_norm && make.device.is_cuda();
  if (!is_forward && is_cudnn) {
    auto [out, saved_mean, saved_variance, reserve] =
        at::cudnn_batch_norm(a, weight, bias, mean, variance, true, momentum, epsilon);
    return [=] {
      return std::get<0>(at::cudnn_batch_norm_backward(a, a, weight, mean, variance, saved_mean,
                                                       saved_variance, epsilon, reserve));
    };
  }
  if (is_cudnn)
    return [=] {
      return std::get<0>(
          at::cudnn_batch_norm(a, weight, bias, mean, variance, true, momentum, epsilon));
    };
  if (is_forward)
    return [=] {
      return std::get<0>(
          at::native_batch_norm(a, weight, bias, mean, variance, true, momentum, epsilon));
    };
  return [=] {
    return std::get<0>(at::native_batch_norm_backward(a, a, weight, mean, variance, mean, variance,
                                                      true, epsilon, {true, true, true}));
  };
}

/// Backward on a GPU computes only the input gradient (passes_of in profile/time/candidates.cpp).
KernelCall layer_norm_call(const RowWork& work, const Operands& make) {
  const std::int64_t forward_bytes =
      2 * work.rows * work.length * static_cast<std::int64_t>(c10::elementSize(make.type));
  const bool backward = work.bytes > forward_bytes, all = make.device.is_cpu();
  const at::Tensor a = make.of({work.rows, work.length});
  const at::Tensor weight = make.ones({work.length}), bias = make.of({work.length});
  if (!backward)
    return [=, length = work.length] {
      return std::get<0>(at::native_layer_norm(a, {length}, weight, bias, 1e-5));
    };
  const Operands make_saved{make.device};  // In fp32 on a GPU.
  const at::Tensor mean = make_saved.of({work.rows, 1}),
                   deviation = make_saved.ones({work.rows, 1});
  return [=, length = work.length] {
    return std::get<0>(at::native_layer_norm_backward(a, a, {length}, mean, deviation, weight, bias,
                                                      {true, all, all}));
  };
}

KernelCall row_call(const Kernel& kernel, const RowWork& work, const Operands& make) {
  const bool backward = kernel.launches > 1;
  switch (kernel.time_class) {
    case TimeClass::batch_norm:
    case TimeClass::batch_norm_rows:
      return batch_norm_call(kernel.time_class, work, make);
    case TimeClass::layer_norm:
      return layer_norm_call(work, make);
    case TimeClass::softmax:
      if (backward)
        return [a = make.of({work.rows, work.length}), type = make.type] {
          return at::_softmax_backward_data(a, a, -1, type);
        };
      return [a = make.of({work.rows, work.length})] { return at::_softmax(a, -1, false); };
    case TimeClass::reduction:
      return [a = make.of({work.rows, work.length})] { return at::sum(a, {-1}); };
    default:
      return {};
  }
}

/// A layer's product: forward (row-major weight, bias), input gradient or weight gradient; on a
/// CPU, where these take equally long, forward. Batched products are those of attention.
KernelCall product_call(const ProductWork& work, const Operands& make) {
  if (work.batch > 1)
    return [a = make.of({work.batch, work.m, work.k}), b = make.of({work.batch, work.k, work.n})] {
      return at::bmm(a, b);
    };
  if (make.device.is_cpu())
    return
        [a = make.of({work.m, work.k}), b = make.of({work.n, work.k}).t()] { return at::mm(a, b); };
  switch (work.layout) {
    case ProductLayout::along:
      return [a = make.of({work.m, work.k}), b = make.of({work.n, work.k}).t(),
              bias = make.of({work.n})] { return at::addmm(bias, a, b); };
    case ProductLayout::mixed:
      return
          [a = make.of({work.m, work.k}), b = make.of({work.k, work.n})] { return at::mm(a, b); };
    default:
      return [a = make.of({work.k, work.m}).t(), b = make.of({work.k, work.n})] {
        return at::mm(a, b);
      };
  }
}

/// The operator that PyTorch selects, for fp32 and on a CPU; for other classes, the class'
/// operator.
at::Tensor attend(TimeClass time_class, const at::Tensor& q, const at::Tensor& k,
                  const at::Tensor& v, bool causal) {
  if (time_class == TimeClass::attention_flash)
    return std::get<0>(at::_scaled_dot_product_flash_attention(q, k, v, 0.0, causal));
  if (time_class == TimeClass::attention_newer)
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(q, k, v, std::nullopt,
                                                               q.requires_grad(), 0.0, causal));
  return at::scaled_dot_product_attention(q, k, v, std::nullopt, 0.0, causal);
}

KernelCall attention_call(TimeClass time_class, const AttentionWork& work, const Operands& make) {
  std::array<at::Tensor, 3> qkv;
  for (std::size_t i = 0; i < qkv.size(); ++i)
    qkv[i] = make.of({work.batch, i == 0 ? work.heads : work.kv_heads,
                      i == 0 ? work.queries : work.keys, work.head_dim})
                 .set_requires_grad(work.backward);
  const auto& [q, k, v] = qkv;
  if (!work.backward)
    return [=, causal = work.causal] {
      const at::NoGradGuard no_grad;
      return attend(time_class, q, k, v, causal);
    };
  const at::Tensor out = attend(time_class, q, k, v, work.causal);
  return [=, gradient = at::ones_like(out)] {
    for (const at::Tensor& leaf : qkv) leaf.mutable_grad().reset();
    out.backward(gradient, /*retain_graph=*/true);
    return at::Tensor();
  };
}

KernelCall convolution_call(const ConvolutionWork& work, const Operands& make) {
  const auto root = [](std::int64_t square) {
    return std::llround(std::sqrt(static_cast<double>(square)));
  };
  const std::int64_t side = root(work.in), out_side = root(work.out), window = root(work.window);
  const std::int64_t step = at_least_one(std::llround(static_cast<double>(side) / out_side));
  const std::int64_t padding = step == window ? 0 : (window - 1) / 2;
  const auto layout =
      work.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  const at::Tensor in = make.of({work.batch, work.in_channels, side, side}).contiguous(layout);
  const at::Tensor weight =
      make.of({work.out_channels, work.in_channels / work.groups, window, window})
          .contiguous(layout);
  const auto forward = [=, groups = work.groups] {
    return at::convolution(in, weight, {}, {step, step}, {padding, padding}, {1, 1}, false, {0, 0},
                           groups);
  };
  if (work.pass == ConvolutionPass::forward) return forward;
  const bool of_input = work.pass == ConvolutionPass::data_gradient;
  return [=, groups = work.groups, gradient = at::ones_like(forward())] {
    const auto [to_input, to_weight, to_bias] = at::convolution_backward(
        gradient, in, weight, std::nullopt, {step, step}, {padding, padding}, {1, 1}, false, {0, 0},
        groups, {of_input, !of_input, false});
    return of_input ? to_input : to_weight;
  };
}

/// A GPU's element-wise kernels use both widths, chosen pseudorandomly by size.
at::ScalarType type_of(const Kernel& kernel, c10::Device device) {
  constexpr std::uint32_t half = 1 << 6;
  const bool is_drawn = kernel.time_class == TimeClass::elementwise && !device.is_cpu() &&
                        (profile::drawn_by(std::get<StreamWork>(kernel.work).bytes) & half) != 0;
  return is_drawn || profile::number_bytes_of(kernel) == 2 ? at::kBFloat16 : at::kFloat;
}

}  // namespace

KernelCall kernel_call(const Kernel& kernel, c10::Device device) {
  const Operands make{device, type_of(kernel, device)};
  if (const auto* stream = std::get_if<StreamWork>(&kernel.work))
    return stream_call(kernel.time_class, stream->bytes, make);
  if (const auto* function = std::get_if<profile::FunctionWork>(&kernel.work))
    return function_call(*function, [&](std::int64_t count) { return make.of({count}); });
  if (const auto* rows = std::get_if<RowWork>(&kernel.work)) return row_call(kernel, *rows, make);
  if (const auto* product = std::get_if<ProductWork>(&kernel.work))
    return product_call(*product, make);
  if (const auto* attention = std::get_if<AttentionWork>(&kernel.work))
    return attention_call(kernel.time_class, *attention, make);
  if (const auto* convolution = std::get_if<ConvolutionWork>(&kernel.work))
    return convolution_call(*convolution, make);
  return {};
}

}  // namespace symprof::measure::real
