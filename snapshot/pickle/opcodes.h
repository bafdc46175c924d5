// The opcodes of Python's pickle format (Lib/pickle.py), of which `Opcode` has those that plain
// data needs.
#pragma once

#include <cstdint>
#include <string_view>

namespace symprof::snapshot::pickle {

enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  binary_float = 'G',
  binary_int = 'J',
  binary_int1 = 'K',
  binary_int2 = 'M',
  none = 'N',
  unicode = 'X',
  append = 'a',
  dict = 'd',
  empty_dict = '}',
  appends = 'e',
  get = 'h',
  long_get = 'j',
  list = 'l',
  empty_list = ']',
  put = 'q',
  long_put = 'r',
  set_item = 's',
  tuple = 't',
  empty_tuple = ')',
  set_items = 'u',
  protocol = 0x80,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  true_value = 0x88,
  false_value = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_unicode = 0x8c,
  long_unicode = 0x8d,
  memoize = 0x94,
  frame = 0x95,
};

/// Python's name, as "REDUCE", of an opcode that plain data does not need; empty if the byte is not
/// such an opcode.
std::string_view name_of_other(std::uint8_t opcode);

}  // namespace symprof::snapshot::pickle
