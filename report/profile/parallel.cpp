#include "report/profile/parallel.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

#include "report/profile/names.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

struct Repeated {
  const Collective* collective = nullptr;
  std::int64_t times = 0;
};

bool are_alike(const Collective& left, const Collective& right) {
  const auto of = [](const Collective& c) {
    return std::tuple(c.op, c.dimension, c.group_size, c.input_bytes, c.output_bytes, c.phase);
  };
  return of(left) == of(right);
}

/// Neighbors that are alike, as one.
std::vector<Repeated> folded(const std::vector<Collective>& collectives) {
  std::vector<Repeated> rows;
  rows.reserve(collectives.size());
  for (const Collective& collective : collectives) {
    if (rows.empty() || !are_alike(*rows.back().collective, collective))
      rows.push_back({&collective, 0});
    ++rows.back().times;
  }
  return rows;
}

/// Ranks are ordered as in a device mesh (pipeline, replicas, shards, tensor), the last dimension
/// fastest.
std::int64_t rank_of(const ParallelOptions& options) {
  const std::int64_t stage = options.pipeline.rank.value_or(0);
  return (stage * options.replicas * options.shards + options.rank) * options.tensor;
}

}  // namespace

void write_parallel(JsonWriter& json, const Recording& recording, const ParallelOptions& options) {
  const RankRecord& rank = *recording.rank;
  json.key("parallel");
  json.begin_object();
  json.member("engine", options.text);
  json.member("ranks", options.world());
  json.member("rank", rank_of(options));
  json.list("wrapped", options.wrapped);
  json.member("parameter_bytes", rank.held.parameter_bytes);
  json.member("gradient_bytes", rank.held.gradient_bytes);
  json.member("optimizer_bytes", rank.held.optimizer_bytes);
  json.key("collectives");
  json.begin_array();
  for (const Repeated& row : folded(rank.collectives)) {
    const Collective& collective = *row.collective;
    json.line(4);
    json.begin_object();
    json.member("op", symprof::name_of(collective.op));
    json.member("dimension", symprof::name_of(collective.dimension));
    json.member("group_size", collective.group_size);
    json.member("phase", name(collective.phase));
    json.member("input_bytes", collective.input_bytes);
    json.member("output_bytes", collective.output_bytes);
    json.member("times", row.times);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

std::string parallel_text(const Recording& recording, const ParallelOptions& options,
                          const std::string& bytes) {
  std::map<CollectiveOperator, std::int64_t> counts;
  for (const Collective& collective : recording.rank->collectives) ++counts[collective.op];
  std::string text;
  for (const auto& [op, count] : counts)
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", group_digits(count), symprof::name_of(op));
  return fmt::format("{}, rank {} of {}: {}; {} in collectives", options.text, rank_of(options),
                     options.world(), text.empty() ? "no collectives" : text, bytes);
}

std::string held_by_rank_text(const HeldByRank& held) {
  return fmt::format("parameters {}, gradients {}, optimizer {} without padding",
                     format_bytes(held.parameter_bytes), format_bytes(held.gradient_bytes),
                     format_bytes(held.optimizer_bytes));
}

}  // namespace symprof::report
