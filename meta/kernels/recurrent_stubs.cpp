#include "meta/kernels/recurrent_stubs.h"

#include <ATen/ATen.h>
#include <ATen/native/RNN.h>

#include "meta/fake/beside_cuda.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"
#include "meta/kernels/cell.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using at::TensorList;

struct Options {
  Cell cell;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional, batch_first;
};

struct State {
  Tensor hidden, cell;  // `cell` is defined only for an LSTM.
};

struct Result {
  Tensor output, hidden, cell;
};

// A vector view of a weight's memory, without an allocation.
Tensor over_memory_of(const Tensor& weight, int64_t elements, DType dtype) {
  TensorSpec spec = meta::spec_of(weight);
  spec.dtype = dtype;
  spec.sizes = {elements};
  spec.strides = {1};
  return meta::make_fake_in(weight, spec);
}

// cuDNN's weight buffer, as a view of the first weight's memory: flatten_parameters
// (torch/nn/modules/rnn.py) has put all weights into one buffer. In bfloat16 it does not
// (torch.backends.cudnn.is_acceptable), and each call creates a buffer.
std::optional<Tensor> flat_buffer(TensorList weights, int64_t per_layer, int64_t hidden,
                                  const Options& options) {
  if (weights[0].scalar_type() == at::kBFloat16) return std::nullopt;
  int64_t elements = absent_biases(options.cell, per_layer, hidden,
                                   options.num_layers * (options.bidirectional + 1));
  for (const Tensor& weight : weights) elements += weight.numel();
  return over_memory_of(weights[0], elements, meta::spec_of(weights[0]).dtype);
}

// cuDNN's dropout state, created by the first layer with dropout and shared by all
// (get_dropout_state in native/cudnn/RNN.cpp). Its size depends on the device, so it has no bytes
// here and views existing memory; profile/cost/scratch/rnn.cpp counts it.
std::optional<Tensor> dropout_state(TensorList weights, const Options& options) {
  if (options.dropout == 0 || !options.train) return std::nullopt;
  return over_memory_of(weights[0], 0, DType::uint8);
}

// A projected LSTM has a hidden state narrower than its cell state, and one more weight per layer.
Result run(const Tensor& input, const State& state, TensorList weights, const Options& options,
           at::IntArrayRef batch_sizes) {
  const int64_t state_width = state.hidden.size(2);
  const int64_t hidden = state.cell.defined() ? state.cell.size(2) : state_width;
  const int64_t projection = hidden != state_width ? state_width : 0;
  const int64_t per_layer = (options.has_biases ? 4 : 2) + (projection != 0 ? 1 : 0);
  const auto cell = state.cell.defined() ? std::optional<Tensor>(state.cell) : std::nullopt;
  auto [output, hy, cy, reserve, buffer] =
      at::_cudnn_rnn(input, weights, per_layer, flat_buffer(weights, per_layer, hidden, options),
                     state.hidden, cell, static_cast<int64_t>(options.cell), hidden, projection,
                     options.num_layers, options.batch_first, options.dropout, options.train,
                     options.bidirectional, batch_sizes, dropout_state(weights, options));
  return {output, hy, cy};
}

// Packed sequences have the rows per time step in a real CPU tensor.
std::vector<int64_t> sizes_of(const Tensor& batch_sizes) {
  const Tensor flat = batch_sizes.contiguous();
  return {flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel()};
}

void lstm(Tensor& output, Tensor& hy, Tensor& cy, const Tensor& input, TensorList hx,
          TensorList weights, bool has_biases, int64_t num_layers, double dropout, bool train,
          bool bidirectional, bool batch_first) {
  const Options options{Cell::lstm, has_biases,    num_layers, dropout,
                        train,      bidirectional, batch_first};
  const Result result = run(input, {hx[0], hx[1]}, weights, options, {});
  std::tie(output, hy, cy) = std::tie(result.output, result.hidden, result.cell);
}

void packed_lstm(Tensor& output, Tensor& hy, Tensor& cy, const Tensor& input,
                 const Tensor& batch_sizes, TensorList hx, TensorList weights, bool has_biases,
                 int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const Options options{Cell::lstm, has_biases, num_layers, dropout, train, bidirectional, false};
  const Result result = run(input, {hx[0], hx[1]}, weights, options, sizes_of(batch_sizes));
  std::tie(output, hy, cy) = std::tie(result.output, result.hidden, result.cell);
}

template <Cell kind>
void layer(Tensor& output, Tensor& hy, const Tensor& input, const Tensor& hx, TensorList weights,
           bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional,
           bool batch_first) {
  const Options options{kind, has_biases, num_layers, dropout, train, bidirectional, batch_first};
  const Result result = run(input, {hx, {}}, weights, options, {});
  std::tie(output, hy) = std::tie(result.output, result.hidden);
}

template <Cell kind>
void packed_layer(Tensor& output, Tensor& hy, const Tensor& input, const Tensor& batch_sizes,
                  const Tensor& hx, TensorList weights, bool has_biases, int64_t num_layers,
                  double dropout, bool train, bool bidirectional) {
  const Options options{kind, has_biases, num_layers, dropout, train, bidirectional, false};
  const Result result = run(input, {hx, {}}, weights, options, sizes_of(batch_sizes));
  std::tie(output, hy) = std::tie(result.output, result.hidden);
}

// Replaces the kernel of a loaded CUDA library, which is still called outside of simulations.
template <auto& stub, auto simulated>
struct Instead;
template <auto& stub, typename... Arguments, void (*simulated)(Arguments...)>
struct Instead<stub, simulated> {
  static inline void (*real)(Arguments...) = nullptr;

  static void call(Arguments... arguments) {
    (meta::is_simulating() ? simulated : real)(arguments...);
  }
  // DispatchStub has no accessor for its kernel pointer; its only member has.
  static void install() {
    static_assert(sizeof(stub) == sizeof(at::native::DispatchStubImpl));
    real = reinterpret_cast<decltype(real)>(
        reinterpret_cast<at::native::DispatchStubImpl&>(stub).cuda_dispatch_ptr);
    stub.set_cuda_dispatch_ptr(&call);
  }
};

}  // namespace

void install_recurrent_stubs() {
  using namespace at::native;  // The stubs.
  Instead<lstm_cudnn_stub, &lstm>::install();
  Instead<lstm_packed_cudnn_stub, &packed_lstm>::install();
  Instead<gru_cudnn_stub, &layer<Cell::gru>>::install();
  Instead<gru_packed_cudnn_stub, &packed_layer<Cell::gru>>::install();
  Instead<rnn_tanh_cudnn_stub, &layer<Cell::tanh>>::install();
  Instead<rnn_tanh_packed_cudnn_stub, &packed_layer<Cell::tanh>>::install();
  Instead<rnn_relu_cudnn_stub, &layer<Cell::relu>>::install();
  Instead<rnn_relu_packed_cudnn_stub, &packed_layer<Cell::relu>>::install();
}

}  // namespace symprof::kernels
