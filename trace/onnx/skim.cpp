#include "trace/onnx/skim.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <optional>

#include "meta/error.h"

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
enum class Message { model, graph, tensor };

struct Damage {
  std::uint64_t at;  ///< Offset in the file.
  std::string problem;
};

class Skimmer {
 public:
  explicit Skimmer(std::string_view bytes) : bytes_(bytes) {}

  /// Copies the message in [begin, end) without large tensor data.
  std::string copy(Message message, std::uint64_t begin, std::uint64_t end) {
    std::string out;
    std::uint64_t at = begin;
    while (at < end) {
      const std::uint64_t field_begin = at;
      const std::uint64_t tag = varint(at, end);
      const std::uint64_t size = payload(tag & 7, at, end);
      const std::uint64_t payload_begin = at;
      at += size;
      if ((tag & 7) == length_type) {
        if (drops(message, tag >> 3, size)) continue;
        if (const auto inner = child(message, tag >> 3)) {
          const std::string text = copy(*inner, payload_begin, at);
          append_varint(out, tag);
          append_varint(out, text.size());
          out += text;
          continue;
        }
      }
      out += bytes_.substr(field_begin, at - field_begin);
    }
    return out;
  }

 private:
  static std::optional<Message> child(Message message, std::uint64_t field) {
    if (message == Message::model && field == onnx::ModelProto::kGraphFieldNumber)
      return Message::graph;
    if (message == Message::graph && field == onnx::GraphProto::kInitializerFieldNumber)
      return Message::tensor;
    return std::nullopt;
  }

  static bool drops(Message message, std::uint64_t field, std::uint64_t size) {
    if (message != Message::tensor || size <= largest_kept_tensor_bytes) return false;
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

void parse_model(std::string_view bytes, const std::string& path, onnx::ModelProto& model) {
  if (bytes.empty()) throw_not_a_model(path, "the file is empty");
  std::string skimmed;
  try {
    skimmed = Skimmer(bytes).copy(Message::model, 0, bytes.size());
  } catch (const Damage& damage) {
    if (!starts_like_a_model(bytes)) throw_not_a_model(path, damage.problem);
    throw Error(path,
                fmt::format("truncated or damaged at byte {} of {}: {}", damage.at, bytes.size(),
                            damage.problem),
                "Copy or export the file again.");
  }
  if (skimmed.size() > INT32_MAX)
    throw Error(path, fmt::format("{} bytes without the weights", skimmed.size()),
                "Protobuf reads at most 2 GiB; move constants out of the nodes.");
  if (!model.ParseFromString(skimmed)) {
    if (!starts_like_a_model(bytes)) throw_not_a_model(path, "protobuf cannot read it");
    throw Error(path, "damaged: protobuf cannot read it", "Copy or export the file again.");
  }
  if (!model.has_graph())
    throw_not_a_model(path, "it has no graph (an empty, truncated or other protobuf file)");
  if (model.opset_import().empty())
    throw Error(path, "truncated: no operator set after the graph",
                "Copy or export the file again.");
}

}  // namespace symprof::trace
