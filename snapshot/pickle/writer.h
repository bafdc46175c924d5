// Writes Python's pickle format, protocol 2, for plain data.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "snapshot/pickle/opcodes.h"

namespace symprof::snapshot::pickle {

<<<<<<<< HEAD:report/write/pickle_writer.h
/// Values in Python's reading order. A list or dictionary is opened, filled and closed; in a
/// dictionary keys and values alternate. Opcodes: Lib/pickle.py.
class PickleWriter {
========
/// Values in the order in which Python reads them. A list or dictionary is opened, filled and
/// closed; in a dictionary keys and values take turns.
class Writer {
>>>>>>>> a4dcd086 (Memory: snapshots read, replayed, compared; a page, CSV, JSON):snapshot/pickle/writer.h
 public:
  explicit Writer(fmt::memory_buffer& out);

  void integer(std::int64_t value);
  void boolean(bool value) { put(value ? Opcode::true_value : Opcode::false_value); }
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

  void finish() { put(Opcode::stop); }

 private:
  void put(Opcode opcode) { out_.push_back(static_cast<char>(opcode)); }
  void put_bytes(std::uint64_t value, int count);

  fmt::memory_buffer& out_;
  std::int64_t remembered_ = 0;
  int elements_ = 0;
};

}  // namespace symprof::snapshot::pickle
