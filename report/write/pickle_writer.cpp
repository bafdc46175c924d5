#include "report/write/pickle_writer.h"

#include <limits>

namespace symprof::report {

PickleWriter::PickleWriter(fmt::memory_buffer& out) : out_(out) {
  put('\x80');  // PROTO
  put(2);
}

void PickleWriter::put_bytes(std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) put(static_cast<char>(value >> (8 * i) & 0xff));
}

void PickleWriter::integer(std::int64_t value) {
  if (value >= std::numeric_limits<std::int32_t>::min() &&
      value <= std::numeric_limits<std::int32_t>::max()) {
    put('J');  // BININT
    return put_bytes(static_cast<std::uint64_t>(value), 4);
  }
  put('\x8a');  // LONG1
  put(8);
  put_bytes(static_cast<std::uint64_t>(value), 8);
}

void PickleWriter::text(std::string_view value) {
  put('X');  // BINUNICODE
  put_bytes(value.size(), 4);
  out_.append(value);
}

void PickleWriter::begin_list() {
  put(']');  // EMPTY_LIST
  put('(');  // MARK
}
void PickleWriter::end_list() { put('e'); }  // APPENDS

void PickleWriter::next_element() {
  constexpr int most_at_once = 1000;
  if (++elements_ < most_at_once) return;
  elements_ = 0;
  put('e');
  put('(');
}

void PickleWriter::begin_dictionary() {
  put('}');  // EMPTY_DICT
  put('(');
}
void PickleWriter::end_dictionary() { put('u'); }  // SETITEMS

void PickleWriter::pair(std::int64_t first, std::int64_t second) {
  integer(first);
  integer(second);
  put('\x86');  // TUPLE2
}

std::int64_t PickleWriter::remember() {
  put('r');  // LONG_BINPUT
  put_bytes(static_cast<std::uint64_t>(remembered_), 4);
  return remembered_++;
}

void PickleWriter::recall(std::int64_t number) {
  put('j');  // LONG_BINGET
  put_bytes(static_cast<std::uint64_t>(number), 4);
}

}  // namespace symprof::report
