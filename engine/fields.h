// JSON as TensorRT's tools write it. `trtexec` writes names without escaping, and files may be
// truncated, so this reader accepts both and reports where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::engine {

/// A value, with its key if in an object.
struct Field {
  enum class Kind : std::uint8_t { word, text, list, object };

  std::string key;
  Kind kind = Kind::word;
  std::string text;          ///< Of a text without its quotes; of a word (`12`, `true`) as written.
  std::vector<Field> items;  ///< Elements of a list, or members of an object.

  /// The member called `name`; null without one.
  const Field* find(std::string_view name) const;
};

struct FieldReading {
  Field field;
  std::size_t end = 0;                ///< After the last character read.
  std::vector<std::string> problems;  ///< "line 12: …". Complete parts before them are kept.
};

/// Reads the value that begins at `begin` of `content`, on line `line`. A quote inside a text ends
/// it only where a comma, a colon, a bracket or the end follows (`sampleReporting.cpp` of TensorRT
/// writes names as they are). Unterminated strings and brackets are problems.
FieldReading read_fields(std::string_view content, std::size_t begin = 0, std::size_t line = 1);

}  // namespace symprof::engine
