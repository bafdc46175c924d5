#include "engine/layer_kinds.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/names.h"
#include "engine/tensor_format.h"

namespace symprof::engine {
namespace {

/// Layer types without device work, in lower case: TREx's parser, the samples of TensorRT 8 to 10,
/// and what builders insert to steer streams, branches, loops and sizes on the host.
constexpr std::string_view without_kernel[] = {"noop",
                                               "constant",
                                               "shape_call",
                                               "signal",
                                               "wait",
                                               "trainstation",
                                               "condition",
                                               "ifinput",
                                               "ifoutput",
                                               "conditionalinput",
                                               "conditionaloutput",
                                               "triplimit",
                                               "iterator",
                                               "recurrence",
                                               "loopoutput",
                                               "shapehosttodevicenop",
                                               "shapehosttodevicecopy"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace

std::optional<std::int64_t> bytes(const Tensor& tensor) {
  const std::optional<std::int64_t> bits = element_bits(tensor.dtype);
  if (!bits || tensor.dimensions.empty()) return std::nullopt;
  std::int64_t product = *bits;
  for (std::size_t i = 0; i < tensor.dimensions.size(); ++i) {
    std::int64_t size = tensor.dimensions[i];
    if (size < 0) return std::nullopt;
    // Channels are the second dimension.
    if (i == 1 && size % tensor.vector_width != 0 &&
        __builtin_add_overflow(size, tensor.vector_width - size % tensor.vector_width, &size))
      return std::nullopt;
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return product / 8 + (product % 8 != 0);
}

bool has_kernel(const Layer& layer) {
  return std::ranges::find(without_kernel, lower_case(layer.type)) == std::end(without_kernel);
}

bool is_reformat(const Layer& layer) {
  // A model's cast that became a reformat is a node, with the node's name.
  return reformat_name(layer.name) || (layer.type == "Reformat" && layer.origin == "REFORMAT");
}

bool is_lone_quantizer(const Layer& layer) {
  if (!has_kernel(layer) || reformat_name(layer.name)) return false;
  if (layer.origin == "QDQ") return true;
  const std::vector<NameTerm> terms = name_terms(layer.name);
  const bool may_be = layer.type == "Reformat" || layer.type == "Scale" || layer.type.empty();
  return may_be && terms.size() == 1 &&
         (terms.front().text.find("QuantizeLinear") != std::string::npos ||
          terms.front().text.find("DequantizeLinear") != std::string::npos);
}

}  // namespace symprof::engine
