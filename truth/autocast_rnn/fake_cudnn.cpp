// cuDNN's recurrent layers without a GPU: where the weights lie in their buffer is answered,
// nothing is computed. PyTorch's own code around them (native/cudnn/RNN.cpp, cudnn/AutocastRNN.cpp)
// runs as it is. Loaded before libcudnn, beside h200/fake_gpu.cpp.
#include <cstddef>
#include <map>

namespace {

/// Values of cudnn.h's enumerations.
constexpr int lstm = 2, gru = 3, half_or_less_bytes = 2;

struct Layers {
  int cell, has_bias, bidirectional, dtype, input, hidden, projection, count;

  int gates() const { return cell == lstm ? 4 : cell == gru ? 3 : 1; }
  int directions() const { return bidirectional ? 2 : 1; }
  bool is_projected() const { return projection != 0 && projection != hidden; }
  int output() const { return is_projected() ? projection : hidden; }
  std::size_t element_bytes() const { return dtype == 0 ? 4 : dtype == 1 ? 8 : half_or_less_bytes; }
};

struct TensorDescriptor {
  int dtype, dimensions, sizes[8], strides[8];
};

std::map<void*, Layers>& layers_of() {
  static std::map<void*, Layers> layers;
  return layers;
}

/// Calls `visit(layer, id, is_matrix, offset, rows, columns)`: matrices first, then biases.
/// Returns how many numbers there are.
template <class Visit>
std::size_t for_each_weight(const Layers& layers, Visit visit) {
  std::size_t offset = 0;
  const int pseudo_layers = layers.count * layers.directions(), gates = layers.gates();
  for (int layer = 0; layer < pseudo_layers; ++layer) {
    const bool is_first = layer < layers.directions();
    const int width = is_first ? layers.input : layers.output() * layers.directions();
    for (int id = 0; id < 2 * gates + (layers.is_projected() ? 1 : 0); ++id) {
      const bool projects = id == 2 * gates;
      const int rows = projects ? layers.projection : layers.hidden;
      const int columns = id < gates ? width : projects ? layers.hidden : layers.output();
      visit(layer, id, true, offset, rows, columns);
      offset += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
  }
  for (int layer = 0; layers.has_bias && layer < pseudo_layers; ++layer)
    for (int id = 0; id < 2 * gates; ++id) {
      visit(layer, id, false, offset, layers.hidden, 1);
      offset += static_cast<std::size_t>(layers.hidden);
    }
  return offset;
}

int make(void** descriptor) {
  *descriptor = new TensorDescriptor();
  return 0;
}

}  // namespace

extern "C" {
int cudnnCreate(void** handle) { return make(handle); }
int cudnnDestroy(void*) { return 0; }
int cudnnSetStream(void*, void*) { return 0; }
int cudnnCreateTensorDescriptor(void** descriptor) { return make(descriptor); }
int cudnnDestroyTensorDescriptor(void*) { return 0; }
int cudnnCreateRNNDescriptor(void** descriptor) { return make(descriptor); }
int cudnnDestroyRNNDescriptor(void*) { return 0; }
int cudnnCreateRNNDataDescriptor(void** descriptor) { return make(descriptor); }
int cudnnDestroyRNNDataDescriptor(void*) { return 0; }
int cudnnSetRNNDataDescriptor() { return 0; }
int cudnnCreateDropoutDescriptor(void** descriptor) { return make(descriptor); }
int cudnnDestroyDropoutDescriptor(void*) { return 0; }
int cudnnSetDropoutDescriptor() { return 0; }
int cudnnRNNForward() { return 0; }
int cudnnRNNBackwardData_v8() { return 0; }
int cudnnRNNBackwardWeights_v8() { return 0; }

int cudnnSetTensorNdDescriptor(void* descriptor, int dtype, int dimensions, const int* sizes,
                               const int* strides) {
  auto* tensor = static_cast<TensorDescriptor*>(descriptor);
  tensor->dtype = dtype;
  tensor->dimensions = dimensions;
  for (int i = 0; i < dimensions && i < 8; ++i) {
    tensor->sizes[i] = sizes[i];
    tensor->strides[i] = strides[i];
  }
  return 0;
}

int cudnnGetTensorNdDescriptor(void* descriptor, int wanted, int* dtype, int* dimensions,
                               int* sizes, int* strides) {
  const auto* tensor = static_cast<TensorDescriptor*>(descriptor);
  *dtype = tensor->dtype;
  *dimensions = tensor->dimensions;
  for (int i = 0; i < wanted && i < tensor->dimensions; ++i) {
    sizes[i] = tensor->sizes[i];
    strides[i] = tensor->strides[i];
  }
  return 0;
}

int cudnnSetRNNDescriptor_v8(void* descriptor, int, int cell, int bias, int direction, int,
                             int dtype, int, int, int input, int hidden, int projection, int count,
                             void*, unsigned) {
  layers_of()[descriptor] = {cell, bias, direction, dtype, input, hidden, projection, count};
  return 0;
}

int cudnnGetRNNWeightSpaceSize(void*, void* descriptor, std::size_t* bytes) {
  const Layers& layers = layers_of()[descriptor];
  *bytes = for_each_weight(layers, [](auto...) {}) * layers.element_bytes();
  return 0;
}

int cudnnGetRNNWeightParams(void*, void* descriptor, int layer, std::size_t, const void* weights,
                            int id, void* matrix, void** matrix_at, void* bias, void** bias_at) {
  const Layers& layers = layers_of()[descriptor];
  for (void** at : {matrix_at, bias_at})
    if (at != nullptr) *at = nullptr;
  for_each_weight(layers, [&](int here, int id_here, bool is_matrix, std::size_t offset, int rows,
                              int columns) {
    if (here != layer || id_here != id) return;
    const int sizes[3] = {1, rows, columns}, strides[3] = {rows * columns, columns, 1};
    if (void* tensor = is_matrix ? matrix : bias)
      cudnnSetTensorNdDescriptor(tensor, layers.dtype, 3, sizes, strides);
    if (void** at = is_matrix ? matrix_at : bias_at)
      *at = static_cast<char*>(const_cast<void*>(weights)) + offset * layers.element_bytes();
  });
  return 0;
}

int cudnnGetRNNTempSpaceSizes(void*, void*, int, void*, std::size_t* workspace,
                              std::size_t* reserve) {
  *workspace = 0;
  if (reserve != nullptr) *reserve = 4096;
  return 0;
}
}
