// Writes Python's pickle format, protocol 2, as far as plain data needs it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "snapshot/pickle/opcodes.h"

namespace symprof::snapshot::pickle {

/// Values in the order in which Python reads them. A list or dictionary is opened, filled and
/// closed; in a dictionary keys and values take turns.
class Writer {
 public:
  explicit Writer(fmt::memory_buffer& out);

  void integer(std::int64_t value);
  void boolean(bool value) { put(value ? Opcode::true_value : Opcode::false_value); }
  void text(std::string_view value);
  void begin_list();
  /// Call it between elements: long lists are written in parts of 1000, which is what the reader of
  /// PyTorch's memory page accepts at once.
  void next_element();
  void end_list();
  void begin_dictionary();
  void end_dictionary();
  /// A tuple of two integers.
  void pair(std::int64_t first, std::int64_t second);

  /// Gives the value that was just written a number, to be written again by it.
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
