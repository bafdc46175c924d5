#include "snapshot/pickle/reader.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>

#include "snapshot/pickle/limits.h"
#include "snapshot/pickle/opcodes.h"

namespace symprof::snapshot::pickle {
namespace {

class Reader {
 public:
  Reader(ByteSource& source, Document& document, Folder& folder)
      : source_(source), document_(document), folder_(folder) {}

  void run() {
    while (step()) {
    }
    if (stack_.size() != 1) source_.fail("the pickle ends with values that belong to nothing");
    document_.root = stack_.back();
  }

 private:
  /// False at the end.
  bool step() {
    const auto opcode = static_cast<Opcode>(*source_.take(1));
    switch (opcode) {
      case Opcode::get:
        push(recall(*source_.take(1)));
        break;
      case Opcode::long_get:
        push(recall(number<4>()));
        break;
      case Opcode::memoize:
        remember(memo_.size() + others_.size());
        break;
      case Opcode::put:
        remember(*source_.take(1));
        break;
      case Opcode::long_put:
        remember(number<4>());
        break;
      case Opcode::mark:
        marks_.push_back(stack_.size());
        if (marks_.size() > most_open_values) too_many();
        break;
      case Opcode::stop:
        return false;
      default:
        if (!step_number(opcode) && !step_container(opcode) && !step_rare(opcode)) refuse(opcode);
    }
    return true;
  }

  bool step_number(Opcode opcode) {
    switch (opcode) {
      case Opcode::binary_int1:
        push(Value::of(std::int64_t{*source_.take(1)}));
        return true;
      case Opcode::binary_int2:
        push(Value::of(static_cast<std::int64_t>(number<2>())));
        return true;
      case Opcode::binary_int:
        push(Value::of(std::int64_t{static_cast<std::int32_t>(number<4>())}));
        return true;
      case Opcode::long1:
        push_long(*source_.take(1));
        return true;
      case Opcode::long4:
        push_long(number<4>());
        return true;
      case Opcode::binary_float:
        push(Value::of(std::bit_cast<double>(__builtin_bswap64(number<8>()))));
        return true;
      case Opcode::short_unicode:
        push_text(*source_.take(1));
        return true;
      case Opcode::unicode:
        push_text(number<4>());
        return true;
      case Opcode::long_unicode:
        push_text(number<8>());
        return true;
      default:
        return false;
    }
  }

  bool step_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::empty_dict:
        push(new_container(Kind::dictionary));
        return true;
      case Opcode::empty_list:
        push(new_container(Kind::list));
        return true;
      case Opcode::empty_tuple:
        push(new_container(Kind::tuple));
        return true;
      case Opcode::set_items:
        return add(Kind::dictionary, pop_mark());
      case Opcode::set_item:
        return add(Kind::dictionary, last(2));
      case Opcode::appends:
        return add(Kind::list, pop_mark());
      case Opcode::append:
        return add(Kind::list, last(1));
      case Opcode::tuple:
        return make(Kind::tuple, pop_mark());
      case Opcode::tuple1:
        return make(Kind::tuple, last(1));
      case Opcode::tuple2:
        return make(Kind::tuple, last(2));
      case Opcode::tuple3:
        return make(Kind::tuple, last(3));
      case Opcode::list:
        return make(Kind::list, pop_mark());
      case Opcode::dict:
        return make(Kind::dictionary, pop_mark());
      default:
        return false;
    }
  }

  bool step_rare(Opcode opcode) {
    switch (opcode) {
      case Opcode::none:
        push({});
        return true;
      case Opcode::true_value:
      case Opcode::false_value:
        push(Value::of(opcode == Opcode::true_value));
        return true;
      case Opcode::protocol:
        if (const int protocol = *source_.take(1); protocol > highest_protocol)
          source_.fail(fmt::format("pickle protocol {}; symprof knows those up to {}", protocol,
                                   highest_protocol));
        return true;
      case Opcode::frame:  // Says how many bytes belong together, which nobody needs here.
        source_.take(8);
        return true;
      case Opcode::pop:
        if (!marks_.empty() && marks_.back() == stack_.size())
          marks_.pop_back();
        else
          stack_.resize(last(1));
        return true;
      case Opcode::pop_mark:
        stack_.resize(pop_mark());
        return true;
      case Opcode::dup:
        push(stack_[last(1)]);
        return true;
      default:
        return false;
    }
  }

  [[noreturn]] void refuse(Opcode opcode) const {
    const std::string_view name = name_of_other(static_cast<std::uint8_t>(opcode));
    if (source_.offset() <= 1) source_.fail("no pickle begins here; a memory snapshot is one");
    if (name.empty())
      source_.fail(fmt::format("{:#04x} is no opcode of a pickle", static_cast<unsigned>(opcode)));
    source_.fail(fmt::format(
        "opcode {}; a memory snapshot has plain data only, so nothing else is read", name));
  }
  [[noreturn]] void too_many() const { source_.fail("more values than any snapshot has"); }

  template <int bytes>
  std::uint64_t number() {
    const unsigned char* taken = source_.take(bytes);
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{taken[i]} << (8 * i);
    return value;
  }

  void push(const Value& value) {
    if (stack_.size() >= most_open_values) too_many();
    stack_.push_back(value);
  }

  void push_long(std::uint64_t bytes) {
    if (bytes > sizeof(std::int64_t)) {
      if (bytes > ByteSource::piece_bytes) source_.fail("an integer of more than 262,144 bytes");
      source_.take(static_cast<std::size_t>(bytes));
      return push({.kind = Kind::large_integer});
    }
    const unsigned char* taken = source_.take(static_cast<std::size_t>(bytes));
    std::uint64_t value = bytes > 0 && (taken[bytes - 1] & 0x80) ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | taken[i];
    push(Value::of(static_cast<std::int64_t>(value)));
  }

  void push_text(std::uint64_t bytes) {
    if (bytes > most_text_bytes)
      source_.fail(fmt::format("a text of {} bytes, which no snapshot has", bytes));
    if (bytes <= ByteSource::piece_bytes) {
      const auto* taken = reinterpret_cast<const char*>(source_.take(bytes));
      return push_text({taken, bytes});
    }
    std::string text;
    source_.take(text, bytes);
    push_text(text);
  }

  void push_text(std::string_view text) {
    push(Value::at(Kind::text, document_.words.id(text)));
    if (document_.words.bytes() > most_bytes_of_all_texts) too_many();
  }

  Value new_container(Kind kind) {
    if (document_.container_count() > most_kept_values) too_many();
    if (document_.container_count() > first_containers + source_.offset() / bytes_of_container)
      source_.fail("more lists and dictionaries than a snapshot of this size has");
    return document_.new_container(kind);
  }

  /// The position of the last `count` values.
  std::size_t last(std::size_t count) const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + count) source_.fail("an opcode lacks the values that it works on");
    return stack_.size() - count;
  }
  std::size_t pop_mark() {
    if (marks_.empty()) source_.fail("an opcode lacks the mark below its values");
    const std::size_t begin = marks_.back();
    marks_.pop_back();
    return begin;
  }

  /// Puts the values from `begin` on into the container below them.
  bool add(Kind kind, std::size_t begin) {
    if (begin == (marks_.empty() ? 0 : marks_.back()) || stack_[begin - 1].kind != kind)
      source_.fail("values are added to what is no list or dictionary");
    fill(kind, stack_[begin - 1], {stack_.data() + begin, stack_.size() - begin});
    stack_.resize(begin);
    return true;
  }
  bool make(Kind kind, std::size_t begin) {
    const Value made = new_container(kind);
    fill(kind, made, {stack_.data() + begin, stack_.size() - begin});
    stack_.resize(begin);
    push(made);
    return true;
  }
  void fill(Kind kind, const Value& value, std::span<const Value> items) {
    Container& container = document_.container(value);
    const bool is_dictionary = kind == Kind::dictionary;
    if (is_dictionary && items.size() % 2 != 0) source_.fail("a key has no value");
    const bool is_folded =
        is_dictionary ? folder_.fold_entries(document_, container, items)
                      : kind == Kind::list && folder_.fold_items(document_, container, items);
    if (is_folded) return;
    if (container.form != 0) source_.fail("one list or dictionary has values of several kinds");
    document_.add_items(container, items);
    if (document_.item_count() > most_kept_values) too_many();
  }

  /// Slots are numbered one after the other by all who write pickles; a file may say otherwise.
  void remember(std::uint64_t slot) {
    const Value value = stack_[last(1)];
    if (memo_.size() + others_.size() > most_kept_values) too_many();
    if (slot < memo_.size())
      memo_[slot] = value;
    else if (slot == memo_.size())
      memo_.push_back(value);
    else
      others_[slot] = value;
  }
  Value recall(std::uint64_t slot) const {
    if (slot < memo_.size()) return memo_[slot];
    const auto found = others_.find(slot);
    if (found == others_.end())
      source_.fail(fmt::format("value {} is asked for before it was kept", slot));
    return found->second;
  }

  ByteSource& source_;
  Document& document_;
  Folder& folder_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;  // Positions in the stack.
  std::deque<Value> memo_;
  std::unordered_map<std::uint64_t, Value> others_;
};

}  // namespace

void read(ByteSource& source, Document& document, Folder& folder) {
  Reader(source, document, folder).run();
}

}  // namespace symprof::snapshot::pickle
