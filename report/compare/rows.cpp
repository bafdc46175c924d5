#include "report/compare/rows.h"

#include <string_view>

namespace symprof::report {
namespace {

using workbench::Alignment;
using workbench::RowKind;
using workbench::RowPair;
using workbench::RowShape;

std::string_view padded_kind(RowKind kind) {
  switch (kind) {
    case RowKind::initializer:
      return "INITIA";
    case RowKind::sparse_initializer:
      return "SPARSE";
    case RowKind::input:
      return "INPUT";
    case RowKind::node:
      return "NODE";
    case RowKind::result:
      return "RESULT";
    case RowKind::output:
      return "OUTPUT";
  }
  return "";
}

/// `text` cut to `width` characters, which may be several bytes each, or padded with spaces.
std::string sized(std::string_view text, std::size_t width) {
  std::size_t characters = 0, at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (begins && characters == width) break;
    characters += begins ? 1 : 0;
  }
  return std::string(text.substr(0, at)) + std::string(width - characters, ' ');
}

std::string shape_text(const RowShape& shape) {
  std::string text;
  for (const auto& dimension : shape) {
    if (!text.empty()) text += 'x';
    if (const auto* size = std::get_if<std::int64_t>(&dimension))
      text += std::to_string(*size);
    else
      text += std::get<std::string>(dimension);
  }
  return text;
}

constexpr std::size_t kind_width = 6, dtype_width = 8, shape_width = 18, op_width = 15;

std::string cell(const workbench::Row& row) {
  const bool has_rank = row.shape && !row.shape->empty();
  const std::string rank = has_rank ? fmt::format("{}:", row.shape->size()) : "  ";
  // A dtype is never cut: numpy's names have at most ten letters.
  const std::string dtype =
      row.dtype.size() > dtype_width ? row.dtype : sized(row.dtype, dtype_width);
  return fmt::format("{} {} {}{} {} {} {}", sized(padded_kind(row.kind), kind_width), dtype, rank,
                     sized(has_rank ? shape_text(*row.shape) : "", shape_width),
                     std::string_view(row.signature.letters.data(), row.signature.letters.size()),
                     sized(row.op_type, op_width), row.name);
}

}  // namespace

void write_compare_rows(std::span<const workbench::Row> a, std::span<const workbench::Row> b,
                        const Alignment& alignment, std::size_t width, fmt::memory_buffer& out) {
  std::size_t number = 0;
  for (const RowPair& pair : alignment.pairs) {
    fmt::format_to(std::back_inserter(out), "{:03} {} | {} | {}", ++number, pair.mark(),
                   sized(pair.a ? cell(a[*pair.a]) : "", width),
                   sized(pair.b ? cell(b[*pair.b]) : "", width));
    if (pair.absolute && pair.relative)
      fmt::format_to(std::back_inserter(out), " | a={:.5g} r={:.5g}", *pair.absolute,
                     *pair.relative);
    fmt::format_to(std::back_inserter(out), "{}\n", pair.mark() == '+' ? " " : "");
  }
}

}  // namespace symprof::report
