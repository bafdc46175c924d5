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
  std::string dtype;   ///< "int8", "float16", …; empty where the file does not say.
  std::string layout;  ///< "NC/32HW32", "NHWC", "NCHW"; empty where the file does not say.
  std::int64_t vector_width = 1;  ///< Channels are padded to a multiple of this.
};

/// What the tensor takes in memory, with the channels that its layout adds. Empty where sizes or
/// dtype are not known, or the product does not fit into 64 bits.
std::optional<std::int64_t> bytes(const Tensor& tensor);

/// The filter of a layer that is a convolution.
struct Filter {
  std::int64_t window = 1;  ///< Positions: 9 of one of 3 x 3.
  std::int64_t groups = 1;
};

struct Layer {
  std::string name;     ///< Without " [profile 1]".
  int profile = 0;      ///< The optimization profile that it belongs to.
  std::string type;     ///< "CaskConvolution", "kgen"; empty in a file that has names alone.
  std::string subtype;  ///< ParameterType: "Convolution", "PointWise".
  std::string origin;   ///< Of a reformat: "REFORMAT", "QDQ", "SLICE".
  std::string tactic;   ///< TacticName, or its value where the file has that alone.
  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> metadata;  ///< Names of ONNX nodes, as `[ONNX Layer: ]` marks give them.
  std::optional<std::int64_t> weight_bytes;  ///< Weights and bias; empty where it has none.
  std::optional<Filter> filter;              ///< Empty where the file does not say.
};

/// Whether a kernel runs for the layer. Types that a file does not give may run one.
bool has_kernel(const Layer& layer);
/// Whether the layer was put in to change the format or the dtype of a tensor, and is no node of
/// the model.
bool is_reformat(const Layer& layer);

/// What a build log says became of a quantizer.
struct Fusion {
  enum class Kind : std::uint8_t {
    absorbed,    ///< It went into the layer `into`.
    eliminated,  ///< It duplicates another.
  };
  Kind kind = Kind::absorbed;
  std::string quantizer;
  std::string into;
};

/// Measured times, a record for each layer.
struct LayerTime {
  std::string name;
  std::optional<double> average_ms, median_ms;
  double total_ms = 0;  ///< Over all runs.
};

struct Times {
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
