#include "trace/onnx/skim.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.h"

namespace symprof::trace {
namespace {

// Wire types of protobuf (protobuf.dev, "Encoding"); 3 and 4 are groups, which ONNX has none of.
enum WireType : std::uint64_t {
  varint_type = 0,
  fixed64_type = 1,
  length_type = 2,
  fixed32_type = 5
};

/// The messages on the way to a tensor's data, with the field numbers of onnx.proto.
enum class Message { model, function, graph, node, attribute, tensor };

/// Three messages for each subgraph; protobuf gives up at 100.
constexpr int deepest_subgraph = 99;

/// Limits of a model without its weights. In memory it takes several times as much.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{1} << 28, most_nodes = 2'000'000;

struct Damage {
  std::uint64_t at;  ///< Offset in the file.
  std::string problem;
};

[[noreturn]] void throw_too_large(const std::string& path, const std::string& found) {
  throw Error(path, "has more than " + found,
              "Export the part of the model that matters, with its constants as initializers.");
}

class Skimmer {
 public:
  Skimmer(std::string_view bytes, const std::string& path, std::uint64_t largest_kept)
      : bytes_(bytes), path_(path), largest_kept_(largest_kept) {}

  /// Checks all of the model. The bytes without data of large tensors; empty: nothing is left out.
  std::string run() {
    const std::uint64_t size = scan(Message::model, 0, bytes_.size(), 0);
    std::string out;
    if (size == bytes_.size()) return out;
    out.reserve(size);
    copy(Message::model, 0, bytes_.size(), out);
    return out;
  }

 private:
  struct Field {
    std::uint64_t tag = 0, begin = 0, payload = 0, end = 0;
    std::optional<Message> inner;  ///< A message that may have a large tensor.
    bool is_dropped = false;
  };

  /// The field of `message` at `at`, which moves behind it.
  Field next(Message message, std::uint64_t& at, std::uint64_t end) const {
    Field field{.begin = at};
    field.tag = varint(at, end);
    const std::uint64_t number = field.tag >> 3, type = field.tag & 7;
    if (number == 0) throw Damage{field.begin, "a field with the number 0"};
    const std::uint64_t size = payload(type, at, end);
    field.payload = at;
    at += size;
    field.end = at;
    if (type != length_type) return field;
    field.is_dropped = drops(message, number, size);
    // A small message has no large tensor.
    if (size > std::min(largest_kept_, largest_kept_tensor_bytes))
      field.inner = child(message, number);
    return field;
  }

  /// The size of the message in [begin, end) without large tensor data; `sizes_` gets those of the
  /// messages in it, in their order.
  std::uint64_t scan(Message message, std::uint64_t begin, std::uint64_t end, int depth) {
    if (depth > deepest_subgraph)
      throw Error(path_,
                  fmt::format("subgraphs are nested more than {} deep", deepest_subgraph / 3),
                  "No ONNX program reads deeper ones: export the model again.");
    std::uint64_t size = 0;
    for (std::uint64_t at = begin; at < end;) {
      const Field field = next(message, at, end);
      if (field.is_dropped) continue;
      if ((field.tag & 7) == length_type && child(message, field.tag >> 3) == Message::node)
        count_node();
      if (!field.inner) {
        size += keep(field);
        continue;
      }
      const std::size_t place = sizes_.size();
      sizes_.push_back(0);
      const std::uint64_t inside = scan(*field.inner, field.payload, field.end, depth + 1);
      sizes_[place] = inside;
      size += varint_bytes(field.tag) + varint_bytes(inside) + inside;
    }
    return size;
  }

  /// Copies the message in [begin, end) without large tensor data.
  void copy(Message message, std::uint64_t begin, std::uint64_t end, std::string& out) {
    for (std::uint64_t at = begin; at < end;) {
      const Field field = next(message, at, end);
      if (field.is_dropped) continue;
      if (!field.inner) {
        out += bytes_.substr(field.begin, field.end - field.begin);
        continue;
      }
      append_varint(out, field.tag);
      append_varint(out, sizes_[next_size_++]);
      copy(*field.inner, field.payload, field.end, out);
    }
  }

  static std::optional<Message> child(Message message, std::uint64_t field) {
    struct Row {
      Message message;
      int field;
      Message child;
    };
    static constexpr Row rows[] = {
        {Message::model, onnx::ModelProto::kGraphFieldNumber, Message::graph},
        {Message::model, onnx::ModelProto::kFunctionsFieldNumber, Message::function},
        {Message::function, onnx::FunctionProto::kNodeFieldNumber, Message::node},
        {Message::graph, onnx::GraphProto::kNodeFieldNumber, Message::node},
        {Message::graph, onnx::GraphProto::kInitializerFieldNumber, Message::tensor},
        {Message::node, onnx::NodeProto::kAttributeFieldNumber, Message::attribute},
        {Message::attribute, onnx::AttributeProto::kTFieldNumber, Message::tensor},
        {Message::attribute, onnx::AttributeProto::kGFieldNumber, Message::graph},
        {Message::attribute, onnx::AttributeProto::kGraphsFieldNumber, Message::graph},
    };
    for (const Row& row : rows)
      if (row.message == message && static_cast<std::uint64_t>(row.field) == field)
        return row.child;
    return std::nullopt;
  }

  void count_node() {
    if (++nodes_ > most_nodes) throw_too_large(path_, fmt::format("{} nodes", most_nodes));
  }

  std::uint64_t keep(const Field& field) {
    kept_bytes_ += field.end - field.begin;
    if (kept_bytes_ > most_kept_bytes && largest_kept_ <= largest_kept_tensor_bytes)
      throw_too_large(path_, fmt::format("{} MiB beside its weights", most_kept_bytes >> 20));
    return field.end - field.begin;
  }

  bool drops(Message message, std::uint64_t field, std::uint64_t size) const {
    if (message != Message::tensor || size <= largest_kept_) return false;
    using onnx::TensorProto;
    return field == TensorProto::kRawDataFieldNumber ||
           field == TensorProto::kFloatDataFieldNumber ||
           field == TensorProto::kDoubleDataFieldNumber ||
           field == TensorProto::kInt32DataFieldNumber ||
           field == TensorProto::kInt64DataFieldNumber ||
           field == TensorProto::kUint64DataFieldNumber;
  }

  std::uint64_t varint(std::uint64_t& at, std::uint64_t end) const {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at >= end) throw Damage{at, "a number ends too soon"};
      const auto byte = static_cast<unsigned char>(bytes_[at++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw Damage{at, "a number of more than 64 bits"};
  }

  /// Moves `at` to the payload of a field and returns its size.
  std::uint64_t payload(std::uint64_t wire_type, std::uint64_t& at, std::uint64_t end) const {
    std::uint64_t size = 0;
    if (wire_type == varint_type) {
      std::uint64_t after = at;
      varint(after, end);
      return after - at;
    }
    if (wire_type == length_type)
      size = varint(at, end);
    else if (wire_type == fixed64_type)
      size = 8;
    else if (wire_type == fixed32_type)
      size = 4;
    else
      throw Damage{at, fmt::format("wire type {}, which no ONNX field has", wire_type)};
    if (size > end - at)
      throw Damage{at, fmt::format("a field wants {} bytes and {} are left", size, end - at)};
    return size;
  }

  static std::uint64_t varint_bytes(std::uint64_t value) {
    std::uint64_t bytes = 1;
    for (; value >= 0x80; value >>= 7) ++bytes;
    return bytes;
  }

  static void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(0x80 | (value & 0x7f)));
    out.push_back(static_cast<char>(value));
  }

  std::string_view bytes_;
  const std::string& path_;
  const std::uint64_t largest_kept_;
  std::uint64_t kept_bytes_ = 0, nodes_ = 0;
  std::vector<std::uint64_t> sizes_;
  std::size_t next_size_ = 0;
};

/// Every writer of ONNX puts ir_version (field 1, a small number) first.
bool starts_like_a_model(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 64;
}

bool parse(std::string_view bytes, onnx::ModelProto& model) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

[[noreturn]] void throw_not_a_model(const std::string& path, const std::string& why) {
  throw Error(path, "not an ONNX model: " + why,
              "Give a file that torch.onnx.export or onnx.save wrote.");
}

}  // namespace

void parse_model(std::string_view bytes, const std::string& path, onnx::ModelProto& model,
                 std::uint64_t largest_kept) {
  if (bytes.empty()) throw_not_a_model(path, "the file is empty");
  std::string skimmed;
  try {
    skimmed = Skimmer(bytes, path, largest_kept).run();
  } catch (const Damage& damage) {
    if (!starts_like_a_model(bytes)) throw_not_a_model(path, damage.problem);
    throw Error(path,
                fmt::format("truncated or damaged at byte {} of {}: {}", damage.at, bytes.size(),
                            damage.problem),
                "Copy or export the file again.");
  }
  if (!parse(skimmed.empty() ? bytes : skimmed, model)) {
    if (!starts_like_a_model(bytes)) throw_not_a_model(path, "protobuf cannot read it");
    throw Error(path,
                fmt::format("protobuf cannot read it: it is damaged, or subgraphs are nested more "
                            "than {} deep",
                            deepest_subgraph / 3),
                "Copy or export the file again.");
  }
  if (!model.has_graph())
    throw_not_a_model(path, "it has no graph (an empty, truncated or other protobuf file)");
  if (model.opset_import().empty())
    throw Error(path, "truncated: no operator set after the graph",
                "Copy or export the file again.");
}

}  // namespace symprof::trace
