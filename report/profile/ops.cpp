#include "report/profile/ops.h"

#include <algorithm>
#include <iterator>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>

#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

Emphasis emphasis_of(Confidence confidence) {
  return confidence == Confidence::free ? Emphasis::faint : Emphasis::normal;
}

std::int64_t count(std::span<const profile::Operator> ops, Confidence confidence) {
  return std::ranges::count(ops, confidence, &profile::Operator::confidence);
}

/// An operator with a rule only for its memory does not count as known.
std::vector<profile::Operator> with_known_cost(std::span<const profile::Operator> ops) {
  const auto is_known = [](const profile::Operator& op) { return op.flops != nullptr; };
  return ops | ranges::views::filter(is_known) | ranges::to<std::vector>();
}

}  // namespace

void write_ops(fmt::memory_buffer& out, std::span<const profile::Operator> all,
               const Layout& layout) {
  const std::vector<profile::Operator> ops = with_known_cost(all);
  fmt::format_to(std::back_inserter(out), "{} operators: {} exact, {} modelled, {} free.\n\n",
                 group_digits(static_cast<std::int64_t>(ops.size())), count(ops, Confidence::exact),
                 count(ops, Confidence::modelled), count(ops, Confidence::free));
  TextTable table;
  table.columns = {{"Operator", Align::left, 24}, {"Family"}, {"Confidence"}};
  for (const profile::Operator& op : ops)
    table.rows.push_back(
        {{{std::string(op.op)},
          {std::string(op.family)},
          {std::string(name(op.confidence())), "", emphasis_of(op.confidence())}}});
  write(out, table, layout);
}

void write_ops_json(fmt::memory_buffer& out, std::span<const profile::Operator> ops) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.ops/1");
  json.line(2);
  json.key("ops");
  json.begin_array();
  for (const profile::Operator& op : with_known_cost(ops)) {
    json.line(4);
    json.begin_object();
    json.member("op", op.op);
    json.member("family", op.family);
    json.member("confidence", name(op.confidence()));
    json.end_object();
  }
  json.closing_line(2);
  json.end_array();
  json.end_document();
}

void write_onnx_ops(fmt::memory_buffer& out, const std::vector<std::string>& ops) {
  fmt::format_to(std::back_inserter(out), "{} ONNX operators.\n\n", ops.size());
  for (const std::string& op : ops) fmt::format_to(std::back_inserter(out), "{}\n", op);
}

void write_onnx_ops_json(fmt::memory_buffer& out, const std::vector<std::string>& ops) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.onnx_ops/1");
  json.line(2);
  json.key("ops");
  json.begin_array();
  for (const std::string& op : ops) {
    json.line(4);
    json.value(op);
  }
  json.closing_line(2);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
