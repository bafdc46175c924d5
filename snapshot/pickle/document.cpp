#include "snapshot/pickle/document.h"

namespace symprof::snapshot::pickle {

WordId Words::id(std::string_view text) {
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  const auto added = static_cast<WordId>(texts_.size());
  texts_.emplace_back(text);
  bytes_ += text.size();
  ids_.emplace(texts_.back(), added);
  return added;
}

std::span<const Value> Document::items(const Value& value) const {
  if (value.kind != Kind::list && value.kind != Kind::tuple && value.kind != Kind::dictionary)
    return {};
  const Container& found = containers_[value.index];
  if (found.form != 0 || found.number == Container::nothing) return {};
  return items_[found.number];
}

void Document::add_items(Container& container, std::span<const Value> items) {
  if (items.empty()) return;
  if (container.number == Container::nothing) {
    container.number = static_cast<std::uint32_t>(items_.size());
    items_.emplace_back();
  }
  std::vector<Value>& kept = items_[container.number];
  kept.insert(kept.end(), items.begin(), items.end());
  item_count_ += items.size();
}

const Value* Document::find(const Value& dictionary, std::string_view key) const {
  if (dictionary.kind != Kind::dictionary) return nullptr;
  const std::span<const Value> entries = items(dictionary);
  const Value* found = nullptr;
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
    if (entries[i].kind == Kind::text && words[entries[i].index] == key) found = &entries[i + 1];
  return found;  // As in Python, the last one counts.
}

}  // namespace symprof::snapshot::pickle
