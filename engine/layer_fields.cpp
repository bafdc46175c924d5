#include "engine/layer_fields.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "engine/tensor_format.h"

namespace symprof::engine {
namespace {

std::string text_of(const Field& field, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const Field* found = field.find(name); found && !found->text.empty()) return found->text;
  return {};
}

Tensor tensor_of(const Field& field) {
  Tensor tensor;
  if (field.kind == Field::Kind::text) {
    tensor.name = field.text;
    return tensor;
  }
  tensor.name = text_of(field, {"Name", "name"});
  if (const Field* dimensions = field.find("Dimensions"))
    for (const Field& size : dimensions->items) {
      std::int64_t value = -1;
      std::from_chars(size.text.data(), size.text.data() + size.text.size(), value);
      tensor.dimensions.push_back(value);
    }
  set_format(tensor, text_of(field, {"Format/Datatype", "Format"}));
  // Newer dumps may give them separately.
  if (const std::string_view dtype = dtype_of(text_of(field, {"Datatype"})); !dtype.empty())
    tensor.dtype = dtype;
  return tensor;
}

std::vector<Tensor> tensors_of(const Field& layer, std::string_view name) {
  std::vector<Tensor> tensors;
  const Field* list = layer.find(name);
  if (!list || list->kind != Field::Kind::list) return tensors;
  tensors.reserve(list->items.size());
  for (const Field& item : list->items) tensors.push_back(tensor_of(item));
  return tensors;
}

/// `{"Type": "Int8", "Count": 8192}`; nothing if the layer has none.
void add_weights(const Layer& layer, const Field* weights, std::optional<std::int64_t>& sum) {
  if (!weights) return;
  const Field* count = weights->find("Count");
  const std::optional<std::int64_t> bits = element_bits(dtype_of(text_of(*weights, {"Type"})));
  if (!count || !bits || layer.type == "Constant") return;
  const double numbers = number_in(count->text).value_or(0);
  if (numbers <= 0 || numbers > 1e15) return;
  sum = sum.value_or(0) + static_cast<std::int64_t>(numbers) * *bits / 8;
}

/// Empty if the layer has none, or one of invalid size.
std::optional<Filter> filter_of(const Field& field) {
  const Field* kernel = field.find("Kernel");
  if (!kernel || kernel->kind != Field::Kind::list || kernel->items.empty()) return std::nullopt;
  constexpr double most = 1e6;
  double window = 1;
  for (const Field& size : kernel->items) window *= number_in(size.text).value_or(0);
  double groups = 1;
  if (const Field* found = field.find("Groups")) groups = number_in(found->text).value_or(0);
  const auto is_sensible = [](double value) { return value >= 1 && value <= most; };
  if (!is_sensible(window) || !is_sensible(groups)) return std::nullopt;
  return Filter{static_cast<std::int64_t>(window), static_cast<std::int64_t>(groups)};
}

void split_profile(Layer& layer) {
  constexpr std::string_view mark = " [profile ";
  const std::size_t at = layer.name.rfind(mark);
  if (at == std::string::npos) return;
  const std::size_t digits = at + mark.size(), end = layer.name.find(']', digits);
  if (end == std::string::npos) return;
  std::from_chars(layer.name.data() + digits, layer.name.data() + end, layer.profile);
  // A generated kernel's number follows: "node_linear [profile 1]_myl11_2".
  layer.name.erase(at, end + 1 - at);
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const std::string_view word = trimmed(text);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end == word.data()) return std::nullopt;
  return value;
}

std::vector<std::string> metadata_names(std::string_view metadata) {
  constexpr std::string_view mark = "[ONNX Layer: ";
  std::vector<std::string> names;
  for (std::size_t at = metadata.find(mark); at != std::string_view::npos;) {
    const std::size_t begin = at + mark.size(), next = metadata.find(mark, begin);
    const std::string_view part = metadata.substr(
        begin, next == std::string_view::npos ? std::string_view::npos : next - begin);
    // A name may contain brackets: the mark's is the last before the next mark.
    if (const std::size_t end = part.rfind(']'); end != std::string_view::npos)
      names.emplace_back(part.substr(0, end));
    at = next;
  }
  return names;
}

Layer layer_of(const Field& field) {
  Layer layer;
  if (field.kind != Field::Kind::object) {
    layer.name = field.text;
    split_profile(layer);
    return layer;
  }
  layer.name = text_of(field, {"Name", "name"});
  layer.type = text_of(field, {"LayerType"});
  layer.subtype = text_of(field, {"ParameterType"});
  layer.origin = text_of(field, {"Origin"});
  layer.tactic = text_of(field, {"TacticName", "TacticValue"});
  layer.inputs = tensors_of(field, "Inputs");
  layer.outputs = tensors_of(field, "Outputs");
  layer.metadata = metadata_names(text_of(field, {"Metadata"}));
  for (const std::string_view name : {"Weights", "ConvWeights", "Bias", "ConvBias"})
    add_weights(layer, field.find(name), layer.weight_bytes);
  layer.filter = filter_of(field);
  split_profile(layer);
  return layer;
}

}  // namespace symprof::engine
