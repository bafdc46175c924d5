// The values of a pickle of plain data: numbers, texts, lists, tuples and dictionaries.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace symprof::snapshot::pickle {

using WordId = std::uint32_t;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  large_integer,  ///< More than 64 bits: its value is not kept.
  real,
  text,
  list,
  dictionary,
  tuple,
  mark,
};

struct Value {
  Kind kind = Kind::none;
  std::uint32_t index = 0;  ///< Of the word or container.
  union {
    std::int64_t integer = 0;
    double real;
  };

  static Value of(std::int64_t number) { return number_of(Kind::integer, number); }
  static Value of(bool truth) { return number_of(Kind::boolean, truth); }
  static Value of(double number) {
    Value value{.kind = Kind::real};
    value.real = number;
    return value;
  }
  static Value at(Kind kind, std::size_t index) {
    return {.kind = kind, .index = static_cast<std::uint32_t>(index)};
  }

 private:
  static Value number_of(Kind kind, std::int64_t number) {
    Value value{.kind = kind};
    value.integer = number;
    return value;
  }
};

/// A list, tuple or dictionary. Its items are kept as values, or a `Folder` keeps them in a smaller
/// form of its own.
struct Container {
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  std::uint32_t number = nothing;  ///< Of its items, or what the folder sets.
  std::uint8_t form = 0;           ///< 0: values. Others are the folder's.
};

/// Texts, each once.
class Words {
 public:
  WordId id(std::string_view text);
  std::string_view operator[](WordId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }
  /// Of all texts together.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
  std::deque<std::string> texts_;  // Their addresses stay.
  std::unordered_map<std::string_view, WordId> ids_;
};

class Document;

/// Keeps parts of a document in another form while it is read: a million dictionaries of one kind
/// take a tenth of the memory as records.
class Folder {
 public:
  Folder() = default;
  virtual ~Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Entries that come into a dictionary: key, value, key, value. True where they are kept here,
  /// and `container` says as what.
  virtual bool fold_entries(const Document& document, Container& container,
                            std::span<const Value> entries) = 0;
  /// Items that come to the end of a list.
  virtual bool fold_items(const Document& document, Container& container,
                          std::span<const Value> items) = 0;
};

class Document {
 public:
  Words words;
  Value root;

  Value new_container(Kind kind) {
    containers_.emplace_back();
    return Value::at(kind, containers_.size() - 1);
  }
  std::size_t container_count() const { return containers_.size(); }
  /// Of all containers that are kept as values.
  std::size_t item_count() const { return item_count_; }
  Container& container(const Value& value) { return containers_[value.index]; }
  const Container& container(const Value& value) const { return containers_[value.index]; }

  /// The elements of a list, tuple or dictionary that no folder keeps; empty for any other value.
  std::span<const Value> items(const Value& value) const;
  void add_items(Container& container, std::span<const Value> items);

  /// The value at `key` of a dictionary that is kept as values; null where there is none.
  const Value* find(const Value& dictionary, std::string_view key) const;

 private:
  std::deque<Container> containers_;
  std::deque<std::vector<Value>> items_;
  std::size_t item_count_ = 0;
};

}  // namespace symprof::snapshot::pickle
