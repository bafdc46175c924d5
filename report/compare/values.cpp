#include "report/compare/values.h"

#include <algorithm>
#include <iterator>

#include "report/write/json_writer.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using workbench::Comparison;
using workbench::Row;
using workbench::RowKind;
using workbench::RowPair;

template <class... Arguments>
void add_line(fmt::memory_buffer& out, fmt::format_string<Arguments...> format,
              Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  out.push_back('\n');
}

std::string_view kind_text(RowKind kind) {
  switch (kind) {
    case RowKind::initializer:
    case RowKind::sparse_initializer:
      return "weight";
    case RowKind::input:
      return "input";
    case RowKind::node:
      return "node";
    case RowKind::result:
      return "result";
    case RowKind::output:
      return "output";
  }
  return "";
}

std::string type_text(const Row& row) {
  if (!row.shape) return row.dtype;
  std::string sizes;
  for (const auto& size : *row.shape) {
    if (!sizes.empty()) sizes += ',';
    if (const auto* number = std::get_if<std::int64_t>(&size))
      sizes += std::to_string(*number);
    else
      sizes += std::get<std::string>(size);
  }
  return fmt::format("{}[{}]", row.dtype, sizes);
}

std::string_view letters_of(const Row& row) {
  return {row.signature.letters.data(), row.signature.letters.size()};
}

/// "MatMul linear_4"
std::string label_of(const Row& row) {
  return row.op_type.empty() ? row.name : fmt::format("{} {}", row.op_type, row.name);
}

const Row* row_of(const Comparison& comparison, const RowPair& pair, bool of_a) {
  const auto& index = of_a ? pair.a : pair.b;
  return index ? &(of_a ? comparison.a : comparison.b)[*index] : nullptr;
}

std::string difference_text(const Comparison& comparison, std::size_t line) {
  const RowPair& pair = comparison.alignment.pairs[line];
  if (!comparison.notes[line].empty()) return "!";
  if (!pair.absolute) return "";
  return *pair.absolute == 0 ? "0" : fmt::format("{:.2g}", *pair.absolute);
}

bool is_alike(const Comparison& comparison, std::size_t line) {
  const RowPair& pair = comparison.alignment.pairs[line];
  return pair.a && pair.b && pair.is_within && comparison.notes[line].empty() &&
         line != comparison.first_divergence;
}

TextRow table_row(const Comparison& comparison, std::size_t line) {
  const RowPair& pair = comparison.alignment.pairs[line];
  const Row *a = row_of(comparison, pair, true), *b = row_of(comparison, pair, false);
  const Row& any = a ? *a : *b;
  std::string type = type_text(any);
  if (a && b && type_text(*b) != type) type += " | " + type_text(*b);
  std::string letters(letters_of(any));
  if (a && b && letters_of(*b) != letters) letters += fmt::format(" {}", letters_of(*b));
  std::string module = any.module;
  if (a && b && b->module != module)
    module = module.empty() ? b->module : b->module.empty() ? module : module + " | " + b->module;
  const auto emphasis = a && b && !pair.is_within ? Emphasis::alert
                        : a && b                  ? Emphasis::normal
                                                  : Emphasis::faint;
  TextRow row;
  const auto add = [&](std::string text) {
    row.cells.push_back({.text = std::move(text), .emphasis = emphasis});
  };
  add(fmt::format("{}{}", pair.mark(), pair.is_guess ? "?" : ""));
  add(difference_text(comparison, line));
  add(std::string(kind_text(any.kind)));
  add(std::move(type));
  add(std::move(letters));
  add(a ? label_of(*a) : "");
  add(b ? label_of(*b) : "");
  add(std::move(module));
  return row;
}

TextTable table_of(const Comparison& comparison, bool all) {
  TextTable table{.columns = {{.title = ""},
                              {.title = "largest difference"},
                              {.title = "row"},
                              {.title = "type", .least_width = 12},
                              {.title = "sums"},
                              {.title = "A", .least_width = 16},
                              {.title = "B", .least_width = 16},
                              {.title = "module", .least_width = 8}}};
  constexpr std::size_t least_folded = 3;
  const std::size_t lines = comparison.alignment.pairs.size();
  for (std::size_t line = 0; line < lines;) {
    std::size_t end = line;
    while (end < lines && is_alike(comparison, end)) ++end;
    if (!all && end - line >= least_folded) {
      double largest = 0;
      for (std::size_t k = line; k < end; ++k)
        largest = std::max(largest, comparison.alignment.pairs[k].absolute.value_or(0));
      table.rows.push_back(
          {.cells = {{.text = "…", .emphasis = Emphasis::faint},
                     {.text = largest == 0 ? "0" : fmt::format("{:.2g}", largest),
                      .emphasis = Emphasis::faint},
                     {.text = fmt::format("{} rows", end - line), .emphasis = Emphasis::faint},
                     {},
                     {},
                     {},
                     {},
                     {}}});
      line = end;
      continue;
    }
    table.rows.push_back(table_row(comparison, line++));
  }
  return table;
}

/// The line that shows a row.
const RowPair* pair_of(const Comparison& comparison, std::size_t row, bool of_a) {
  for (const RowPair& pair : comparison.alignment.pairs)
    if ((of_a ? pair.a : pair.b) == row) return &pair;
  return nullptr;
}

void write_operands(fmt::memory_buffer& out, const Comparison& comparison, const Row& reader,
                    bool of_a) {
  for (const std::size_t operand : reader.operands) {
    if (operand == workbench::no_row) continue;
    const Row& row = (of_a ? comparison.a : comparison.b)[operand];
    const RowPair* pair = pair_of(comparison, operand, of_a);
    add_line(out, "    {} reads {} {} {} from {:.5g} to {:.5g}{}", of_a ? 'A' : 'B', row.name,
             type_text(row), letters_of(row), row.smallest, row.largest,
             !pair || !pair->a || !pair->b ? ", which has no partner"
             : pair->absolute              ? fmt::format(", off by {:.2g}", *pair->absolute)
                                           : "");
  }
}

void write_divergence(fmt::memory_buffer& out, const Comparison& comparison) {
  if (!comparison.first_divergence) return;
  const std::size_t line = *comparison.first_divergence;
  const RowPair& pair = comparison.alignment.pairs[line];
  const Row &a = comparison.a[*pair.a], &b = comparison.b[*pair.b];
  const auto place = [](const Row& row) {
    std::string text = label_of(row);
    if (!row.node.empty()) text += fmt::format(", node {}", row.node);
    if (!row.module.empty()) text += fmt::format(" in {}", row.module);
    return text;
  };
  add_line(out, "first divergence, line {}:", line + 1);
  add_line(out, "  A {} -> {} {} from {:.5g} to {:.5g}", place(a), type_text(a), letters_of(a),
           a.smallest, a.largest);
  add_line(out, "  B {} -> {} {} from {:.5g} to {:.5g}", place(b), type_text(b), letters_of(b),
           b.smallest, b.largest);
  if (pair.absolute)
    add_line(out, "  largest difference {:.3g} absolute, {:.3g} relative", *pair.absolute,
             *pair.relative);
  else
    add_line(out, "  {}", comparison.notes[line]);
  write_operands(out, comparison, a, true);
  write_operands(out, comparison, b, false);
}

void write_verdict(fmt::memory_buffer& out, const CompareAnswer& result) {
  const Comparison& comparison = result.comparison;
  add_line(out, "\n{} lines: {} =, {} ~, {} only in A, {} only in B; distance {:.9g}",
           comparison.alignment.pairs.size(), comparison.count('='), comparison.count('~'),
           comparison.count('-'), comparison.count('+'), comparison.alignment.distance);
  if (!result.has_run) return;
  for (std::size_t line = 0; line < comparison.alignment.pairs.size(); ++line) {
    const RowPair& pair = comparison.alignment.pairs[line];
    if (!pair.a || comparison.a[*pair.a].kind != RowKind::output) continue;
    if (!pair.b)
      add_line(out, "output {}: only in A", comparison.a[*pair.a].name);
    else if (pair.absolute)
      add_line(out, "output {}: off by {:.2g} absolute, {:.2g} relative{}",
               comparison.a[*pair.a].name, *pair.absolute, *pair.relative,
               pair.is_within ? "" : "  differs");
    else
      add_line(out, "output {}: {}", comparison.a[*pair.a].name, comparison.notes[line]);
  }
  add_line(out, "outputs {} within {:g}", comparison.outputs_agree() ? "agree" : "do not agree",
           comparison.tolerance);
  write_divergence(out, comparison);
}

void write_row(JsonWriter& json, std::string_view key, const Row* row) {
  json.key(key);
  if (row == nullptr) return json.null();
  json.begin_object();
  json.member("kind", kind_text(row->kind));
  json.member("dtype", std::string_view(row->dtype));
  json.key("shape");
  if (!row->shape) {
    json.null();
  } else {
    json.begin_array();
    for (const auto& size : *row->shape)
      if (const auto* number = std::get_if<std::int64_t>(&size))
        json.value(*number);
      else
        json.value(std::string_view(std::get<std::string>(size)));
    json.end_array();
  }
  json.member("signature", letters_of(*row));
  json.key("sums");
  json.begin_array();
  if (row->has_values)
    for (const double sum : row->signature.sums) json.value(sum);
  json.end_array();
  json.member("op_type", std::string_view(row->op_type));
  json.member("name", std::string_view(row->name));
  json.member("node", std::string_view(row->node));
  json.member("module", std::string_view(row->module));
  json.end_object();
}

void write_pair(JsonWriter& json, const Comparison& comparison, std::size_t line) {
  const RowPair& pair = comparison.alignment.pairs[line];
  json.line(4);
  json.begin_object();
  const char mark = pair.mark();
  json.member("mark", std::string_view(&mark, 1));
  json.member("cost", pair.cost);
  write_row(json, "a", row_of(comparison, pair, true));
  write_row(json, "b", row_of(comparison, pair, false));
  json.member("absolute", pair.absolute);
  json.member("relative", pair.relative);
  json.member("is_within", pair.is_within);
  json.member("is_guess", pair.is_guess);
  json.member("other", std::string_view(comparison.notes[line]));
  json.end_object();
}

}  // namespace

void write_compare_table(fmt::memory_buffer& out, const CompareAnswer& result, bool all,
                         const Layout& layout) {
  const auto side = [&](char letter, const std::string& file, const std::string& backend) {
    const bool is_usual = backend.empty() || backend == "torch";
    add_line(out, "{} {}{}", letter, file, is_usual ? "" : ", run by " + backend);
  };
  side('A', result.a, result.backend_a);
  side('B', result.b, result.backend_b);
  if (result.has_run) add_line(out, "on {}", result.inputs);
  out.push_back('\n');
  write(out, table_of(result.comparison, all), layout);
  write_verdict(out, result);
}

void write_compare_json(fmt::memory_buffer& out, const CompareAnswer& result) {
  const Comparison& comparison = result.comparison;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", std::string_view("symprof.compare/1"));
  json.member("a", std::string_view(result.a));
  json.member("b", std::string_view(result.b));
  json.member("backend_a", std::string_view(result.backend_a));
  json.member("backend_b", std::string_view(result.backend_b));
  json.member("inputs", std::string_view(result.inputs));
  json.member("tolerance", comparison.tolerance);
  json.member("distance", comparison.alignment.distance);
  json.member("outputs_agree", comparison.outputs_agree());
  json.key("first_divergence");
  if (comparison.first_divergence)
    json.value(static_cast<std::int64_t>(*comparison.first_divergence));
  else
    json.null();
  json.key("lines");
  json.begin_array();
  for (std::size_t line = 0; line < comparison.alignment.pairs.size(); ++line)
    write_pair(json, comparison, line);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
