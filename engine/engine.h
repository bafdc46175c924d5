// A TensorRT engine as described by its own tools: layers in execution order, with measured times.
// Plain data, filled by the readers in this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace symprof::engine {

/// A tensor between layers.
struct Tensor {
  std::string name;
  /// -1 for a dynamic size. Empty if not in the file.
  std::vector<std::int64_t> dimensions;
  std::string dtype;              ///< "int8", "float16", …; empty if not in the file.
  std::string layout;             ///< "NC/32HW32", "NHWC", "NCHW"; empty if not in the file.
  std::int64_t vector_width = 1;  ///< Channels are padded to a multiple of this.
};

/// The filter of a layer that is a convolution.
struct Filter {
  std::int64_t window = 1;  ///< Positions: 9 for 3 x 3.
  std::int64_t groups = 1;
};

struct Layer {
  std::string name;     ///< Without " [profile 1]".
  int profile = 0;      ///< The optimization profile that it belongs to.
  std::string type;     ///< "CaskConvolution", "kgen"; empty in a file with names only.
  std::string subtype;  ///< ParameterType: "Convolution", "PointWise".
  std::string origin;   ///< Set for a reformat: "REFORMAT", "QDQ", "SLICE".
  std::string tactic;   ///< TacticName, or its value if the file has only that.
  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> metadata;         ///< Names of ONNX nodes from `[ONNX Layer: ]` marks.
  std::optional<std::int64_t> weight_bytes;  ///< Weights and bias; empty where it has none.
  std::optional<Filter> filter;              ///< Empty if not in the file.
};

/// How the builder fused a quantizer, according to its log.
struct Fusion {
  enum class Kind : std::uint8_t {
    absorbed,    ///< It was fused into the layer `into`.
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
  std::int64_t runs = 0;  ///< 0 if not in the file.
  std::vector<LayerTime> layers;
  std::vector<std::string> warnings;
};

struct Engine {
  std::string path;
  std::string form;     ///< "inspector JSON", "build log", …: the source of the layers.
  std::string version;  ///< "8.5.10"; empty if not in the file.
  std::vector<Layer> layers;
  /// The same engine with each region of generated kernels as one layer, if the file has both.
  std::vector<Layer> regions;
  std::vector<std::string> bindings;
  std::vector<Fusion> fusions;
  std::optional<Times> times;  ///< Times from the file itself.
  std::vector<std::string> warnings;
};

}  // namespace symprof::engine
