#include "engine/text_lines.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "engine/layer_fields.h"
#include "engine/tensor_format.h"

namespace symprof::engine {
namespace {

constexpr std::size_t nowhere = std::string_view::npos;

/// The sizes of "1,64:32,56,56"; a width of vectors follows a colon.
void read_sizes(std::string_view text, Tensor& tensor) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::string_view word = trimmed(part.substr(0, part.find(':')));
    std::int64_t size = -1, width = 1;
    std::from_chars(word.data(), word.data() + word.size(), size);
    tensor.dimensions.push_back(size);
    if (const std::size_t colon = part.find(':'); colon != nowhere) {
      const std::string_view digits = part.substr(colon + 1);
      std::from_chars(digits.data(), digits.data() + digits.size(), width);
      tensor.vector_width = std::clamp<std::int64_t>(width, 1, 1024);
    }
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
}

// ---- The inspector's text ---------------------------------------------------------------------

/// Position of the earliest of several words from `begin` on; the text's length if none.
std::size_t find_first(std::string_view text, std::size_t begin,
                       std::initializer_list<std::string_view> words) {
  std::size_t first = text.size();
  for (const std::string_view word : words) first = std::min(first, text.find(word, begin));
  return first;
}

/// Reads `{ Name: a, Location: Device, Dimensions: [1,3], Format/Datatype: Half }` that begins at
/// `at`, and advances `at` after it. False if unterminated.
bool read_inspector_tensor(std::string_view line, std::size_t& at, Tensor& tensor) {
  constexpr std::string_view name = "{ Name: ", sizes = "Dimensions: [",
                             format = "Format/Datatype: ";
  const std::size_t begin = line.find(name, at);
  if (begin == nowhere) return false;
  const std::size_t name_end =
      find_first(line, begin, {", Location: ", ", Dimensions: [", ", Format/Datatype: "});
  const std::size_t name_begin = begin + name.size();
  if (name_end >= line.size() || name_end < name_begin) return false;
  tensor.name = line.substr(name_begin, name_end - name_begin);
  const std::size_t end = line.find(" }", name_end);
  if (end == nowhere) return false;
  const std::string_view rest = line.substr(name_end, end - name_end);
  if (const std::size_t open = rest.find(sizes); open != nowhere) {
    const std::string_view inside = rest.substr(open + sizes.size());
    read_sizes(inside.substr(0, inside.find(']')), tensor);
  }
  if (const std::size_t open = rest.find(format); open != nowhere)
    set_format(tensor, rest.substr(open + format.size()));
  at = end + 2;
  return true;
}

/// Reads `Inputs: [ { … }, { … }]` that begins at `at`. False where it has no end.
bool read_inspector_tensors(std::string_view line, std::size_t& at, std::vector<Tensor>& tensors) {
  for (at = line.find('[', at) + 1;;) {
    const std::size_t next = line.find_first_not_of(" ,", at);
    if (next == nowhere) return false;
    if (line[next] == ']') {
      at = next + 1;
      return true;
    }
    Tensor tensor;
    if (line[next] != '{' || !read_inspector_tensor(line, at, tensor)) return false;
    tensors.push_back(std::move(tensor));
  }
}

/// The value of `key` after a line's tensors: a list, an object, or the text up to the next key.
/// Metadata is the last field, up to the line's end.
std::string_view value_of(std::string_view rest, std::string_view key) {
  std::size_t at = rest.find(key);
  if (at == nowhere) return {};
  at += key.size();
  if (at < rest.size() && (rest[at] == '{' || rest[at] == '['))
    return rest.substr(at, rest.find(rest[at] == '{' ? '}' : ']', at) + 1 - at);
  return rest.substr(at, rest.find(", ", at) - at);
}

/// Adds an object or a list.
void add_value(std::string_view rest, std::string_view key, Field& fields) {
  const std::string_view value = value_of(rest, key);
  if (!value.starts_with('{') && !value.starts_with('[')) return;
  Field field = read_fields(value).field;
  field.key = key.substr(2, key.size() - 4);
  fields.items.push_back(std::move(field));
}

void add_text(std::string_view rest, std::string_view key, Field& fields) {
  Field field{.key = std::string(key.substr(2, key.size() - 4)), .kind = Field::Kind::text};
  field.text = trimmed(value_of(rest, key));
  if (field.text.size() >= 2 && field.text.front() == '"' && field.text.back() == '"')
    field.text = field.text.substr(1, field.text.size() - 2);
  fields.items.push_back(std::move(field));
}

/// The fields of a line after its tensors, for the common reader.
Field fields_after(std::string_view rest) {
  Field fields{.kind = Field::Kind::object};
  constexpr std::string_view metadata = ", Metadata:";
  if (const std::size_t at = rest.find(metadata); at != nowhere) {
    fields.items.push_back(
        {.key = "Metadata", .kind = Field::Kind::text, .text = std::string(rest.substr(at))});
    rest = rest.substr(0, at);
  }
  for (const std::string_view key :
       {", ParameterType: ", ", Origin: ", ", TacticName: ", ", TacticValue: ", ", Groups: "})
    add_text(rest, key, fields);
  for (const std::string_view key :
       {", Weights: ", ", ConvWeights: ", ", Bias: ", ", ConvBias: ", ", Kernel: "})
    add_value(rest, key, fields);
  return fields;
}

// ---- The one-line form ------------------------------------------------------------------------

/// One tensor of `text` from `at` on: "name (Int8[1,64:32,56,56])" or "name[Int8(1,64,56,56)]".
/// The name ends at the first bracket that has a type and sizes in it.
bool read_bracket_tensor(std::string_view text, std::size_t& at, Tensor& tensor) {
  for (std::size_t open = text.find_first_of("([", at); open != nowhere;
       open = text.find_first_of("([", open + 1)) {
    const std::size_t inner = text.find_first_not_of(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", open + 1);
    if (inner == nowhere || inner == open + 1) continue;
    const char wanted = text[open] == '(' ? '[' : '(';
    if (text[inner] != wanted) continue;
    const std::size_t close = text.find_first_not_of("0123456789,:- ", inner + 1);
    if (close == nowhere || close + 1 >= text.size() ||
        text[close] != (wanted == '[' ? ']' : ')') ||
        text[close + 1] != (wanted == '[' ? ')' : ']'))
      continue;
    tensor.name = trimmed(text.substr(at, open - at));
    tensor.dtype = dtype_of(text.substr(open + 1, inner - open - 1));
    read_sizes(text.substr(inner + 1, close - inner - 1), tensor);
    at = close + 2;
    return true;
  }
  return false;
}

/// "a (Float[1]), b (Float[1]) -> c (Float[1])". False if truncated.
bool read_flow(std::string_view text, Layer& layer) {
  bool after_arrow = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::string_view rest = text.substr(at);
        rest.starts_with(" -> ") || rest.starts_with("-> ")) {
      after_arrow = true;
      at = text.find('>', at) + 2;
    } else if (rest.starts_with(", ")) {
      at += 2;
    }
    Tensor tensor;
    if (!read_bracket_tensor(text, at, tensor)) return false;
    (after_arrow ? layer.outputs : layer.inputs).push_back(std::move(tensor));
    if (trimmed(text.substr(at)).empty()) break;
  }
  return after_arrow;
}

// ---- polygraphy -------------------------------------------------------------------------------

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t at = text.find(open);
  if (at == nowhere) return {};
  const std::string_view inside = text.substr(at + open.size());
  return inside.substr(0, inside.find(close));
}

/// numpy's words, as polygraphy prints dtypes.
std::string_view numpy_dtype(std::string_view word) {
  return word == "float8e4m3fn" ? "float8" : word;
}

}  // namespace

std::optional<LineReading> read_inspector_line(std::string_view line) {
  constexpr std::string_view name = "Name: ", type = ", LayerType: ";
  if (!line.starts_with(name)) return std::nullopt;
  LineReading reading;
  const std::size_t type_at = line.find(type);
  if (type_at == nowhere) {
    if (line.find(", Inputs: ") == nowhere && line.find(", Dimensions: ") == nowhere)
      return std::nullopt;  // Another line that begins with a name.
    reading.problem = "the line of a layer gives no type";
    return reading;
  }
  std::size_t at = type_at + type.size();
  const std::size_t type_end = std::min(line.find(", ", at), line.size());
  Layer layer;
  const std::size_t inputs = line.find(", Inputs: [", at),
                    outputs_from = line.find(", Outputs: [", at);
  const bool has_inputs =
      inputs != nowhere && read_inspector_tensors(line, at = inputs, layer.inputs);
  const std::size_t outputs = has_inputs ? line.find(", Outputs: [", at) : outputs_from;
  const bool has_outputs =
      outputs != nowhere && read_inspector_tensors(line, at = outputs, layer.outputs);
  if (!has_inputs || !has_outputs)
    reading.problem = "the line of a layer is cut: not all of its tensors are there";
  reading.layer = layer_of(fields_after(has_outputs ? line.substr(at) : std::string_view()));
  reading.layer.type = line.substr(type_at + type.size(), type_end - type_at - type.size());
  reading.layer.inputs = std::move(layer.inputs);
  reading.layer.outputs = std::move(layer.outputs);
  // The common reader splits the profile's number off the name.
  const Layer named =
      layer_of({.kind = Field::Kind::text,
                .text = std::string(line.substr(name.size(), type_at - name.size()))});
  reading.layer.name = named.name;
  reading.layer.profile = named.profile;
  return reading;
}

std::optional<LineReading> read_one_line_layer(std::string_view line) {
  constexpr std::string_view word = "Layer(", tactic = ", Tactic: ";
  const std::size_t at = line.find(word);
  if (at == nowhere || (at > 0 && line.substr(0, at).find_first_not_of(' ') != nowhere &&
                        !line.substr(0, at).ends_with("] ") && !line.substr(0, at).ends_with("- ")))
    return std::nullopt;
  const std::size_t close = line.find("): ", at);
  if (close == nowhere) return std::nullopt;
  LineReading reading;
  const std::size_t name = close + 3, tactic_at = line.find(tactic, name);
  reading.layer = layer_of(
      {.kind = Field::Kind::text,
       .text = std::string(line.substr(name, tactic_at == nowhere ? nowhere : tactic_at - name))});
  reading.layer.type = line.substr(at + word.size(), close - at - word.size());
  if (tactic_at == nowhere) {
    reading.problem = "the line of a layer is cut: its tensors are not there";
    return reading;
  }
  const std::size_t value = tactic_at + tactic.size(), comma = line.find(", ", value);
  reading.layer.tactic = line.substr(value, comma == nowhere ? nowhere : comma - value);
  if (comma == nowhere || !read_flow(line.substr(comma + 2), reading.layer))
    reading.problem = "the line of a layer is cut: not all of its tensors are there";
  return reading;
}

std::optional<LineReading> read_polygraphy_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with("Layer ")) return std::nullopt;
  const std::size_t bar = text.find(" | ");
  if (bar == nowhere || trimmed(text.substr(6, bar - 6)).empty() ||
      !std::ranges::all_of(trimmed(text.substr(6, bar - 6)), is_digit))
    return std::nullopt;
  LineReading reading;
  std::string_view name = text.substr(bar + 3);
  if (const std::size_t op = name.rfind(" [Op: "); op != nowhere) {
    reading.layer.type = between(name.substr(op), "[Op: ", "]");
    name = name.substr(0, op);
  }
  reading.layer.name = trimmed(name);
  return reading;
}

bool add_polygraphy_tensors(std::string_view line, Layer& layer) {
  std::string_view text = trimmed(line);
  const bool is_output =
      text.starts_with("-> {") || (!layer.outputs.empty() && !text.starts_with('{'));
  const std::size_t dtype = text.find(" [dtype=");
  if (dtype == nowhere) return text == "{}" || text == "-> {}";
  const std::size_t begin = text.find_first_not_of("->{ ");
  if (begin == nowhere || begin > dtype) return false;
  Tensor tensor;
  tensor.name = text.substr(begin, dtype - begin);
  set_format(tensor, between(text.substr(dtype), "Format: ", "]"));
  tensor.dtype = numpy_dtype(between(text.substr(dtype), "dtype=", ","));
  read_sizes(between(text.substr(dtype), "shape=(", ")"), tensor);
  (is_output ? layer.outputs : layer.inputs).push_back(std::move(tensor));
  return true;
}

}  // namespace symprof::engine
