// Makes PyTorch take the paths that it would take on an H200 (PyPI wheel of 2.13, CUDA 13.0,
// cuDNN 9.20), so that autograd runs over FakeTensorMode's "cuda" tensors. Load it before torch,
// after the CUDA library of a CUDA build, and call fake_cuda_install().
#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/RNN.h>
#include <ATen/native/transformers/attention.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace {

const c10::Device gpu(c10::DeviceType::CUDA, 0);
const c10::Stream gpu_stream(c10::Stream::DEFAULT, gpu);

/// Without a guard the autograd engine cannot start the thread of the device.
struct DeviceGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return gpu; }
  c10::Device getDevice() const override { return gpu; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return gpu_stream; }
  c10::Stream getNewStream(c10::Device, int) const override { return gpu_stream; }
  c10::Stream exchangeStream(c10::Stream) const override { return gpu_stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
};

/// What convolution, batch norm and recurrent layers ask before they choose a backend.
struct Hooks final : at::CUDAHooksInterface {
  explicit Hooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasCuDNN() const override { return true; }
  bool hasCuSOLVER() const override { return true; }
  bool hasCuBLASLt() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  std::string showConfig() const override { return "a simulated H200"; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  bool compiledWithCuDNN() const override { return true; }
  long versionCuDNN() const override { return 92000; }
  long versionRuntimeCuDNN() const override { return 92000; }
  long versionCUDART() const override { return 13000; }
  bool supportsDilatedConvolutionWithCuDNN() const override { return true; }
  bool supportsDepthwiseConvolutionWithCuDNN() const override { return true; }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override { return true; }
  bool supportsBFloat16RNNWithCuDNN() const override { return true; }
  double batchnormMinEpsilonCuDNN() const override { return 0.0; }
};

enum Backend : std::int64_t { math = 0, flash = 1, efficient = 2, cudnn = 3 };

std::optional<Backend> forced_backend;

/// The arguments of scaled_dot_product_attention, as far as the choice of a backend depends on
/// them; the rules are those of aten/src/ATen/native/transformers/cuda/sdp_utils.cpp.
struct Attention {
  const at::Tensor &q, &k, &v;
  const std::optional<at::Tensor>& mask;
  double dropout;
  bool causal, grouped;

  std::int64_t query_length() const { return q.size(2); }
  std::int64_t key_length() const { return k.size(2); }
  std::int64_t head_size() const { return q.size(3); }
  bool half() const { return q.scalar_type() == at::kHalf || q.scalar_type() == at::kBFloat16; }
  bool masked() const { return mask && mask->defined(); }
  bool dense() const { return q.stride(3) == 1 && k.stride(3) == 1 && v.stride(3) == 1; }
  bool mask_dense() const { return !masked() || mask->stride(-1) == 1; }
  bool same_heads() const { return q.size(1) == k.size(1) && k.size(1) == v.size(1); }
  bool groups_divide() const { return grouped && q.size(1) % k.size(1) == 0; }

  bool fits_cudnn() const {
    const auto fits = [](std::int64_t size) { return size % 8 == 0 && size <= 256; };
    const bool fits_mask = !masked() || ((mask->dim() == 2 || mask->dim() == 4) &&
                                         !mask->requires_grad() && mask->stride(-1) == 1);
    const bool fits_dropout = dropout * 16 == std::floor(dropout * 16);
    return half() && dense() && fits(head_size()) && fits(v.size(3)) && query_length() > 0 &&
           key_length() > 1 && !(query_length() == 1 && dropout > 0) && fits_dropout && fits_mask &&
           (same_heads() || groups_divide());
  }

  bool fits_flash() const {
    return half() && !masked() && dense() && head_size() == k.size(3) && head_size() == v.size(3) &&
           head_size() <= 256 && query_length() > 0 && key_length() > 0 &&
           !(causal && query_length() != key_length()) &&
           (same_heads() || (groups_divide() && k.size(1) == v.size(1)));
  }

  bool fits_efficient() const {
    const std::int64_t alignment = half() ? 8 : 4;
    return (half() || q.scalar_type() == at::kFloat) && dense() && mask_dense() && same_heads() &&
           head_size() == k.size(3) && head_size() % alignment == 0 && v.size(3) % alignment == 0 &&
           query_length() > 0 && key_length() > 0;
  }
};

std::int64_t choose(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const std::optional<at::Tensor>& mask, double dropout, bool causal,
                    std::optional<double> /*scale*/, bool grouped) {
  if (forced_backend) return *forced_backend;
  if (q.dim() != 4 || k.dim() != 4 || v.dim() != 4) return math;
  const Attention attention{q, k, v, mask, dropout, causal, grouped};
  const at::Context& allowed = at::globalContext();  // torch.nn.attention.sdpa_kernel
  if (allowed.userEnabledCuDNNSDP() && attention.fits_cudnn()) return cudnn;
  if (allowed.userEnabledFlashSDP() && attention.fits_flash()) return flash;
  return allowed.userEnabledMemEfficientSDP() && attention.fits_efficient() ? efficient : math;
}

// Never run: FakeTensorMode answers for the shapes. That they exist is what makes rms_norm one
// autograd node and the backward of silu and mish one call, as in a CUDA build; without them these
// composite operators run in parts, which save and allocate more.
std::tuple<at::Tensor, at::Tensor> rms_norm(const at::Tensor&, at::IntArrayRef,
                                            const std::optional<at::Tensor>&,
                                            std::optional<double>) {
  TORCH_CHECK(false, "a fake CUDA kernel cannot run");
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor&, const at::Tensor&,
                                                     at::IntArrayRef, const at::Tensor&,
                                                     const std::optional<at::Tensor>&,
                                                     std::array<bool, 2>) {
  TORCH_CHECK(false, "a fake CUDA kernel cannot run");
}

at::Tensor activation_backward(const at::Tensor&, const at::Tensor&) {
  TORCH_CHECK(false, "a fake CUDA kernel cannot run");
}

/// at::lstm and at::gru reach cuDNN's layers through these (aten/src/ATen/native/cudnn/RNN.cpp);
/// the numbers of the modes are cuDNN's. flatten_parameters has put the weights of a module into
/// one buffer, which is read and not made; the first of them stands for it.
constexpr std::int64_t cudnn_lstm = 2, cudnn_gru = 3;

auto fused_layers(std::int64_t mode, const at::Tensor& input, const at::Tensor& hx,
                  const std::optional<at::Tensor>& cx, at::TensorList weights, bool has_biases,
                  std::int64_t num_layers, double dropout, bool train, bool bidirectional,
                  bool batch_first) {
  return at::_cudnn_rnn(input, weights, has_biases ? 4 : 2, weights[0].detach(), hx, cx, mode,
                        hx.size(2), 0, num_layers, batch_first, dropout, train, bidirectional, {},
                        std::nullopt);
}

void lstm(at::Tensor& output, at::Tensor& hy, at::Tensor& cy, const at::Tensor& input,
          at::TensorList hx, at::TensorList weights, bool has_biases, std::int64_t num_layers,
          double dropout, bool train, bool bidirectional, bool batch_first) {
  const auto made = fused_layers(cudnn_lstm, input, hx[0], hx[1], weights, has_biases, num_layers,
                                 dropout, train, bidirectional, batch_first);
  std::tie(output, hy, cy) = std::tie(std::get<0>(made), std::get<1>(made), std::get<2>(made));
}

void gru(at::Tensor& output, at::Tensor& hy, const at::Tensor& input, const at::Tensor& hx,
         at::TensorList weights, bool has_biases, std::int64_t num_layers, double dropout,
         bool train, bool bidirectional, bool batch_first) {
  const auto made = fused_layers(cudnn_gru, input, hx, std::nullopt, weights, has_biases,
                                 num_layers, dropout, train, bidirectional, batch_first);
  std::tie(output, hy) = std::tie(std::get<0>(made), std::get<1>(made));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("_fused_rms_norm", &rms_norm);
  library.impl("_fused_rms_norm_backward", &rms_norm_backward);
  library.impl("silu_backward", &activation_backward);
  library.impl("mish_backward", &activation_backward);
}

/// In front of a CUDA build's own, which ask for a driver.
extern "C" void fake_cuda_install() {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks",
      [](at::CUDAHooksArgs arguments) -> std::unique_ptr<at::CUDAHooksInterface> {
        return std::make_unique<Hooks>(arguments);
      },
      c10::REGISTRY_PREFERRED);
  c10::impl::device_guard_impl_registry[static_cast<std::size_t>(gpu.type())].store(
      new DeviceGuard());
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose);
  at::native::lstm_cudnn_stub.set_cuda_dispatch_ptr(&lstm);
  at::native::gru_cudnn_stub.set_cuda_dispatch_ptr(&gru);
}

/// 0: the math decomposition; -1: the backend that an H200 would take.
extern "C" void fake_cuda_force_attention(std::int64_t backend) {
  forced_backend = backend < 0 ? std::nullopt : std::optional(static_cast<Backend>(backend));
}
