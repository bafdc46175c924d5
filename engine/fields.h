// JSON as TensorRT's tools write it. `trtexec` writes names without escaping them, and files are
// cut where a process ended, so this reader takes both, and says where it had to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::engine {

/// A value of a file, and the key that it stands under in an object.
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
  std::size_t end = 0;                ///< Behind the last letter that was read.
  std::vector<std::string> problems;  ///< "line 12: …". What was complete before them is there.
};

/// Reads the value that begins at `begin` of `content`, on line `line`. A quote inside a text ends
/// it only where a comma, a colon, a bracket or the end follows (`sampleReporting.cpp` of TensorRT
/// writes names as they are). A text that a file ends in, and brackets that never close, are
/// problems.
FieldReading read_fields(std::string_view content, std::size_t begin = 0, std::size_t line = 1);

}  // namespace symprof::engine
