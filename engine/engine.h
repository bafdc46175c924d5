// A TensorRT engine as its own tools describe it: its layers, in the order in which they run, and
// how long each took. Plain data; the readers in this folder make it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace symprof::engine {

/// A tensor between layers.
struct Tensor {
  std::string name;
  /// -1 of a size that the engine leaves open. Empty where the file does not say.
  std::vector<std::int64_t> dimensions;
  std::string format;  ///< As written: "Thirty-two wide channel vectorized row major Int8 format".
  std::string dtype;   ///< "int8", "float16", …; empty where the file does not say.
  std::string layout;  ///< "NC/32HW32", "NHWC", "NCHW"; empty where the file does not say.
  std::int64_t vector_width = 1;  ///< Channels are padded to a multiple of this.
};

/// What the tensor takes in memory, with the channels that its layout adds. Empty where sizes or
/// dtype are not known, or the product does not fit into 64 bits.
std::optional<std::int64_t> bytes(const Tensor& tensor);

struct Layer {
  std::string name;     ///< Without " [profile 1]".
  int profile = 0;      ///< The optimization profile that it belongs to.
  std::string type;     ///< "CaskConvolution", "kgen"; empty in a file that has names alone.
  std::string subtype;  ///< ParameterType: "Convolution", "PointWise".
  std::string origin;   ///< Of a reformat: "REFORMAT", "QDQ", "SLICE".
  std::string tactic;   ///< TacticName, or its value where the file has that alone.
  std::string activation;
  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> metadata;  ///< Names of ONNX nodes, as `[ONNX Layer: ]` marks give them.
  std::optional<std::int64_t> weight_bytes;  ///< Weights and bias; empty where it has none.
  std::size_t line = 0;                      ///< Of the file where it begins, counted from 1.
};

/// Whether a kernel runs for the layer. Types that a file does not give may run one.
bool has_kernel(const Layer& layer);
/// Whether the layer was put in to change the format or the dtype of a tensor, and is no node of
/// the model.
bool is_reformat(const Layer& layer);

/// One line of a build log that says what became of a layer.
struct Fusion {
  enum class Kind : std::uint8_t {
    fused,       ///< `second` went into `first`.
    absorbed,    ///< A quantizer (`first`) went into the layer `second`.
    swapped,     ///< `first` changed places with `second`.
    eliminated,  ///< `first` duplicates `second`.
    removed,     ///< `first` is gone.
  };
  Kind kind = Kind::fused;
  std::string pass;  ///< "ConvEltwiseSumFusion"; empty where the line names none.
  std::string first, second;
  std::size_t line = 0;
};

/// Measured times, a record for each layer.
struct LayerTime {
  std::string name;
  std::optional<double> average_ms, median_ms;
  double total_ms = 0;  ///< Over all runs.
};

struct Times {
  std::string path;
  std::int64_t runs = 0;  ///< 0 where the file does not say.
  std::vector<LayerTime> layers;
  std::vector<std::string> warnings;
};

struct Engine {
  std::string path;
  std::string form;     ///< "inspector JSON", "build log", …: what the layers were read from.
  std::string version;  ///< "8.5.10"; empty where the file does not say.
  std::vector<Layer> layers;
  /// The same engine with a whole region of generated kernels as one layer, where the file has
  /// both.
  std::vector<Layer> regions;
  std::vector<std::string> bindings;
  std::vector<Fusion> fusions;
  std::optional<Times> times;  ///< Those that the file itself has.
  std::vector<std::string> warnings;
};

}  // namespace symprof::engine
