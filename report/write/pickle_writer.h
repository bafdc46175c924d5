// Writes Python's pickle format, protocol 2, for plain data.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace symprof::report {

/// Values in Python's reading order. A list or dictionary is opened, filled and closed; in a
/// dictionary keys and values alternate. Opcodes: Lib/pickle.py.
class PickleWriter {
 public:
  explicit PickleWriter(fmt::memory_buffer& out);

  void integer(std::int64_t value);
  void boolean(bool value) { put(value ? '\x88' : '\x89'); }
  void text(std::string_view value);
  void begin_list();
  /// Call between elements: long lists are appended in parts of 1000, the most that the reading
  /// page accepts at once.
  void next_element();
  void end_list();
  void begin_dictionary();
  void end_dictionary();
  /// A tuple of two integers.
  void pair(std::int64_t first, std::int64_t second);

  /// Numbers the last value, so that it can be written again by its number.
  std::int64_t remember();
  void recall(std::int64_t number);

  void finish() { put('.'); }

 private:
  void put(char byte) { out_.push_back(byte); }
  void put_bytes(std::uint64_t value, int count);

  fmt::memory_buffer& out_;
  std::int64_t remembered_ = 0;
  int elements_ = 0;
};

}  // namespace symprof::report
