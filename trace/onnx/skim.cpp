#include "trace/onnx/skim.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>

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

  /// Copies the message in [begin, end) without large tensor data.
  std::string copy(Message message, std::uint64_t begin, std::uint64_t end, int depth = 0) {
    if (depth > deepest_subgraph)
      throw Error(path_,
                  fmt::format("subgraphs are nested more than {} deep", deepest_subgraph / 3),
                  "No ONNX program reads deeper ones: export the model again.");
    std::string out;
    std::uint64_t at = begin;
    while (at < end) {
      const std::uint64_t field_begin = at;
      const std::uint64_t tag = varint(at, end);
      if (tag >> 3 == 0) throw Damage{field_begin, "a field with the number 0"};
      const std::uint64_t size = payload(tag & 7, at, end);
      const std::uint64_t payload_begin = at;
      at += size;
      if ((tag & 7) == length_type) {
        if (drops(message, tag >> 3, size)) continue;
        const auto inner = child(message, tag >> 3);
        if (inner == Message::node) count_node();
        // A small message has no large tensor.
        if (inner && size > std::min(largest_kept_, largest_kept_tensor_bytes)) {
          const std::string text = copy(*inner, payload_begin, at, depth + 1);
          append_varint(out, tag);
          append_varint(out, text.size());
          out += text;
          continue;
        }
      }
      keep(out, field_begin, at);
    }
    return out;
  }

 private:
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

  void keep(std::string& out, std::uint64_t begin, std::uint64_t end) {
    kept_bytes_ += end - begin;
    if (kept_bytes_ > most_kept_bytes && largest_kept_ <= largest_kept_tensor_bytes)
      throw_too_large(path_, fmt::format("{} MiB beside its weights", most_kept_bytes >> 20));
    out += bytes_.substr(begin, end - begin);
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

  static void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(0x80 | (value & 0x7f)));
    out.push_back(static_cast<char>(value));
  }

  std::string_view bytes_;
  const std::string& path_;
  const std::uint64_t largest_kept_;
  std::uint64_t kept_bytes_ = 0, nodes_ = 0;
};

/// Every writer of ONNX puts ir_version (field 1, a small number) first.
bool starts_like_a_model(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 64;
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
    skimmed = Skimmer(bytes, path, largest_kept).copy(Message::model, 0, bytes.size());
  } catch (const Damage& damage) {
    if (!starts_like_a_model(bytes)) throw_not_a_model(path, damage.problem);
    throw Error(path,
                fmt::format("truncated or damaged at byte {} of {}: {}", damage.at, bytes.size(),
                            damage.problem),
                "Copy or export the file again.");
  }
  if (!model.ParseFromString(skimmed)) {
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
