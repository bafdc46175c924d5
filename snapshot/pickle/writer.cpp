#include "snapshot/pickle/writer.h"

#include <limits>

namespace symprof::snapshot::pickle {

Writer::Writer(fmt::memory_buffer& out) : out_(out) {
  put(Opcode::protocol);
  put_bytes(2, 1);
}

void Writer::put_bytes(std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) out_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void Writer::integer(std::int64_t value) {
  if (value >= std::numeric_limits<std::int32_t>::min() &&
      value <= std::numeric_limits<std::int32_t>::max()) {
    put(Opcode::binary_int);
    return put_bytes(static_cast<std::uint64_t>(value), 4);
  }
  put(Opcode::long1);
  put_bytes(8, 1);
  put_bytes(static_cast<std::uint64_t>(value), 8);
}

void Writer::text(std::string_view value) {
  put(Opcode::unicode);
  put_bytes(value.size(), 4);
  out_.append(value);
}

void Writer::begin_list() {
  put(Opcode::empty_list);
  put(Opcode::mark);
}
void Writer::end_list() { put(Opcode::appends); }

void Writer::next_element() {
  constexpr int most_at_once = 1000;
  if (++elements_ < most_at_once) return;
  elements_ = 0;
  put(Opcode::appends);
  put(Opcode::mark);
}

void Writer::begin_dictionary() {
  put(Opcode::empty_dict);
  put(Opcode::mark);
}
void Writer::end_dictionary() { put(Opcode::set_items); }

void Writer::pair(std::int64_t first, std::int64_t second) {
  integer(first);
  integer(second);
  put(Opcode::tuple2);
}

std::int64_t Writer::remember() {
  put(Opcode::long_put);
  put_bytes(static_cast<std::uint64_t>(remembered_), 4);
  return remembered_++;
}

void Writer::recall(std::int64_t number) {
  put(Opcode::long_get);
  put_bytes(static_cast<std::uint64_t>(number), 4);
}

}  // namespace symprof::snapshot::pickle
