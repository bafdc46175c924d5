#include "trace/torchscript/pickle_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace symprof::trace::torchscript {
namespace {

/// Modules are nested about ten deep; destructors recurse.
constexpr int deepest = 500;

/// A stack item: its nesting depth, and if it is also referenced elsewhere. Containers are filled
/// before they are referenced, so depths are final.
struct Item {
  int depth = 0;
  bool shared = false;
};

class PickleChecker {
 public:
  PickleChecker(std::string_view bytes, const std::string& where)
      : rest_(bytes), size_(bytes.size()), where_(where) {}

  /// The instructions of torch/csrc/jit/serialization/unpickler.cpp.
  void run() {
    while (!stopped_) step(static_cast<unsigned char>(take(1)[0]));
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(where_, problem, "The file is damaged, or torch.jit.save did not write it.");
  }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) fail("ends too soon");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view text = take(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
    return value;
  }

  void take_line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) fail("ends too soon");
    rest_.remove_prefix(end + 1);
  }

  void push(int depth) {
    if (depth > deepest) fail(fmt::format("values are nested more than {} deep", deepest));
    items_.push_back({depth});
    stack_.push_back(items_.size() - 1);
  }

  Item& top(std::size_t below = 0) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + below + 1) fail("takes more from the stack than is there");
    return items_[stack_[stack_.size() - 1 - below]];
  }

  /// Pops `count` items; returns the largest depth, 0 if none.
  int pop(std::size_t count) {
    int depth = 0;
    if (count > 0) top(count - 1);
    for (std::size_t i = 0; i < count; ++i) depth = std::max(depth, top(i).depth + 1);
    stack_.resize(stack_.size() - count);
    return depth;
  }

  int pop_to_mark() {
    if (marks_.empty()) fail("closes what it did not open");
    const int depth = pop(stack_.size() - marks_.back());
    marks_.pop_back();
    return depth;
  }

  void fill(int depth) {
    Item& container = top();
    if (container.shared) fail("changes a value that others refer to");
    container.depth = std::max(container.depth, depth);
    if (container.depth > deepest)
      fail(fmt::format("values are nested more than {} deep", deepest));
  }

  void put(std::uint64_t slot) {
    top();
    // Picklers number slots consecutively, and LibTorch allocates all lower ones.
    if (slot >= size_) fail(fmt::format("keeps a value in slot {}, and has not so many", slot));
    memo_[slot] = stack_.back();
  }

  void get(std::uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) fail("refers to a value that it does not have");
    items_[found->second].shared = true;
    stack_.push_back(found->second);
  }

  void skip(std::uint64_t count) {
    if (count > rest_.size()) fail("ends too soon");
    rest_.remove_prefix(static_cast<std::size_t>(count));
    push(0);
  }

  void step(unsigned char instruction) {
    switch (instruction) {
      case 0x80:  // PROTO
        take(1);
        return;
      case '.':  // STOP
        if (!marks_.empty()) fail("ends inside a list");
        top();
        stopped_ = true;
        return;
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return;
      case 'N':   // NONE
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
      case ']':   // EMPTY_LIST
      case ')':   // EMPTY_TUPLE
      case '}':   // EMPTY_DICT
        return push(0);
      case 'c':  // GLOBAL
        take_line();
        take_line();
        return push(0);
      default:
        return step_with_data(instruction);
    }
  }

  void step_with_data(unsigned char instruction) {
    switch (instruction) {
      case 'K':  // BININT1
        return skip(1);
      case 'M':  // BININT2
        return skip(2);
      case 'J':  // BININT
        return skip(4);
      case 'G':  // BINFLOAT
        return skip(8);
      case 0x8a:  // LONG1
      case 'U':   // SHORT_BINSTRING
        return skip(number(1));
      case 'X':  // BINUNICODE
      case 'T':  // BINSTRING
        return skip(number(4));
      case 'q':  // BINPUT
        return put(number(1));
      case 'r':  // LONG_BINPUT
        return put(number(4));
      case 'h':  // BINGET
        return get(number(1));
      case 'j':  // LONG_BINGET
        return get(number(4));
      default:
        return step_on_stack(instruction);
    }
  }

  void step_on_stack(unsigned char instruction) {
    switch (instruction) {
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        return push(pop(instruction - 0x84u));
      case 't':  // TUPLE
      case 'l':  // LIST
      case 'd':  // DICT
        return push(pop_to_mark());
      case 'a':  // APPEND
      case 'b':  // BUILD
        return fill(pop(1));
      case 's':  // SETITEM
        return fill(pop(2));
      case 'e':  // APPENDS
      case 'u':  // SETITEMS
        return fill(pop_to_mark());
      case 'R':   // REDUCE
      case 0x81:  // NEWOBJ
        return push(pop(2));
      case 'Q':  // BINPERSID
        return push(pop(1));
      default:
        fail(fmt::format("has the instruction {}, which torch.jit.save does not write",
                         instruction));
    }
  }

  std::string_view rest_;
  std::size_t size_;
  const std::string& where_;
  std::vector<Item> items_;
  std::vector<std::size_t> stack_;  ///< Indices into items_: a memoized value is one item.
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, std::size_t> memo_;
  bool stopped_ = false;
};

}  // namespace

void check_pickle(std::string_view bytes, const std::string& where) {
  PickleChecker(bytes, where).run();
}

}  // namespace symprof::trace::torchscript
