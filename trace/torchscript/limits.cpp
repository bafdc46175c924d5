#include "trace/torchscript/limits.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "trace/exported/archive.h"
#include "trace/torchscript/pickle_limits.h"

namespace symprof::trace::torchscript {
namespace {

/// Limit of the unpacked bytes of all records, except tensors.
constexpr std::int64_t most_unpacked_bytes = std::int64_t{1} << 27;
/// LibTorch unpacks packed tensors in memory. They may take that much, and this many times the
/// file's own bytes: weights hardly shrink, and what a hostile file costs is bounded by its size.
constexpr std::int64_t most_packing = 4;
/// Limits of tokens per expression, indentation, and branches of an `elif` chain.
constexpr int most_tokens = 1000, most_indentation = 400, most_branches = 400;
/// Limit of classes: each may be an attribute of the previous one, a level of recursion.
constexpr int most_classes = 20'000;

/// Reads code as tokens and brackets. Commas and lines separate expressions; any other token may be
/// a level of the parser's recursion.
class CodeChecker {
 public:
  CodeChecker(std::string_view code, std::string where) : code_(code), where_(std::move(where)) {}

  /// Adds the classes that the code defines to `classes`.
  void run(int& classes) {
    while (at_ < code_.size()) {
      if (line_begins_) begin_line(classes);
      token();
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(where_, problem, "torch.jit.save writes no such code: is the file damaged?");
  }

  void begin_line(int& classes) {
    line_begins_ = false;
    const std::size_t end = std::min(code_.find_first_not_of(" \t", at_), code_.size());
    if (open_.empty() && end - at_ > most_indentation)
      fail(fmt::format("blocks are nested more than {} blanks deep", most_indentation));
    at_ = end;
    const std::string_view line = code_.substr(at_);
    if (line.starts_with("elif") && ++branches_ > most_branches)
      fail(fmt::format("has more than {} branches in a function", most_branches));
    if (line.starts_with("def ") || line.starts_with("class ")) branches_ = 0;
    if (line.starts_with("class ") && ++classes > most_classes)
      fail(fmt::format("has more than {} classes", most_classes));
  }

  void token() {
    if (at_ >= code_.size()) return;
    const char c = code_[at_];
    if (c == '\n') {
      line_begins_ = true;
      if (open_.empty()) tokens_ = 0;
    } else if (c == '#') {
      at_ = std::min(code_.find('\n', at_), code_.size());
      return;
    } else if (c == '"' || c == '\'') {
      skip_text(c);
      count();
    } else if (c == '(' || c == '[' || c == '{') {
      count();
      open_.push_back(tokens_);
    } else if (c == ')' || c == ']' || c == '}') {
      if (!open_.empty()) tokens_ = open_.back();
      if (!open_.empty()) open_.pop_back();
    } else if (c == ',') {
      tokens_ = open_.empty() ? 0 : open_.back();
    } else if (c != ' ' && c != '\t') {
      count();
      if (is_word(c))
        while (at_ + 1 < code_.size() && is_word(code_[at_ + 1])) ++at_;
    }
    ++at_;
  }

  /// Leaves `at_` at the closing quote.
  void skip_text(char quote) {
    for (++at_; at_ < code_.size() && code_[at_] != quote && code_[at_] != '\n'; ++at_)
      if (code_[at_] == '\\') ++at_;
  }

  void count() {
    if (++tokens_ > most_tokens)
      fail(fmt::format("an expression has more than {} parts that hang on one another",
                       most_tokens));
  }

  std::string_view code_;
  std::string where_;
  std::size_t at_ = 0;
  int tokens_ = 0;         ///< In the expression, including those before its open brackets.
  std::vector<int> open_;  ///< `tokens_` at each open bracket.
  int branches_ = 0;
  bool line_begins_ = true;
};

bool is_tensor_data(std::string_view record) {
  return !record.ends_with(".py") && !record.ends_with("pkl") &&
         (record.starts_with("data/") || record.starts_with("constants/") ||
          record.starts_with("traced_inputs/"));
}

/// Tensor records must be plausible for the file's size: torch.jit.save does not compress them.
/// Other tools (zip -9) do.
void check_sizes(const exported::Archive& archive) {
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(archive.path()));
  std::int64_t unpacked = 0, tensors = 0, packed_tensors = 0;
  for (std::size_t i = 0; i < archive.records().size(); ++i) {
    const std::int64_t size = archive.size_at(i);
    const bool is_packed = archive.packed_size_at(i) != size;
    std::int64_t& sum = !is_tensor_data(archive.records()[i]) ? unpacked
                        : is_packed                           ? packed_tensors
                                                              : tensors;
    if (__builtin_add_overflow(sum, size, &sum) || sum < 0 || tensors > file_bytes)
      throw Error(archive.path(), "its tensors claim more bytes than the file has",
                  "The file is damaged: write it again with torch.jit.save.");
    const std::int64_t most_of_tensors = most_unpacked_bytes + most_packing * file_bytes;
    if (unpacked > most_unpacked_bytes || packed_tensors > most_of_tensors)
      throw Error(
          archive.path(),
          fmt::format(
              "its packed records unpack to more than {} MiB",
              (unpacked > most_unpacked_bytes ? most_unpacked_bytes : most_of_tensors) >> 20),
          "Write it with torch.jit.save, which packs code alone, without extra files.");
  }
}

}  // namespace

void check_limits(const std::string& path) {
  const exported::Archive archive(path);
  check_sizes(archive);
  int classes = 0;
  for (std::size_t i = 0; i < archive.records().size(); ++i) {
    const std::string& name = archive.records()[i];
    const std::string where = fmt::format("{}: {}", path, name);
    if (!name.ends_with(".py") && !name.ends_with("pkl")) continue;
    const exported::Record record = archive.read_at(i);
    const std::string_view bytes(record.bytes.get(), record.size);
    if (name.ends_with(".py"))
      CodeChecker(bytes, where).run(classes);
    else
      check_pickle(bytes, where);
  }
}

}  // namespace symprof::trace::torchscript
