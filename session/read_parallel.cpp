#include "session/read_parallel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "profile/parallel/schedules.h"
#include "session/read_text.h"
#include "session/setting_names.h"

namespace symprof::settings {
namespace {

constexpr auto advice =
    "Give ddp=8, fsdp=8, hsdp=2x4, ep=8, tp=4 or pp=4:1f1b:mb=16, and after colons: of ddp view, "
    "cap=25MiB; of fsdp and hsdp keep, reshard, reshard=4, param=bf16, reduce=fp32, rank=7; of tp "
    "sp, loss; of pp gpipe, 1f1b, interleaved, looped-bfs, stages=2, mb=16, rank=3. 'fsdp=2 tp=4' "
    "and 'pp=2:mb=8 tp=4' are both engines, 'fsdp=8 ep=8' has a part of the experts on each rank.";

[[noreturn]] void refuse(const std::string& given, const std::string& problem,
                         const std::string& instead = advice) {
  throw Error(SettingRef{"parallel", given}, problem, instead);
}

std::vector<std::string> split(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end = 0; end != text.npos; start = end + 1) {
    end = text.find_first_of(separators, start);
    parts.push_back(text.substr(start, end == text.npos ? text.npos : end - start));
  }
  return parts;
}

/// "reshard=4" as its name and its value, which is empty without one.
std::pair<std::string, std::string> name_and_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {text, ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::int64_t count(const std::string& text, int least) {
  return parse_count(SettingRef{"parallel"}, text, least);
}

void read_reshard(ParallelOptions& options, const std::string& value) {
  options.reshard = value.empty() ? Reshard::always : Reshard::to_fewer_ranks;
  if (value.empty()) return;
  options.reshard_ranks = count(value, 2);
  if (options.shards % options.reshard_ranks != 0 || options.reshard_ranks >= options.shards)
    refuse(options.text, "reshard divides the ranks of a shard, and is less than they are.");
}

bool read_fsdp_option(ParallelOptions& options, const std::string& name, const std::string& value) {
  const SettingRef where{"parallel"};
  if (name == "keep" && value.empty())
    options.reshard = Reshard::never;
  else if (name == "reshard")
    read_reshard(options, value);
  else if (name == "param")
    options.param_dtype = choose(where, value, model_dtypes);
  else if (name == "reduce")
    options.reduce_dtype = choose(where, value, model_dtypes);
  else if (name == "rank")
    options.rank = count(value, 0);
  else
    return false;
  return true;
}

bool read_ddp_option(ParallelOptions& options, const std::string& name, const std::string& value) {
  if (name == "view" && value.empty())
    options.gradient_as_bucket_view = true;
  else if (name == "cap")
    options.bucket_cap_bytes = parse_bytes(SettingRef{"parallel"}, value);
  else
    return false;
  return true;
}

bool read_tensor_option(ParallelOptions& options, const std::string& name,
                        const std::string& value) {
  if (!value.empty() || (name != "sp" && name != "loss")) return false;
  (name == "sp" ? options.sequence : options.loss) = true;
  return true;
}

bool read_pipeline_option(ParallelOptions& options, const std::string& name,
                          const std::string& value) {
  PipelineOptions& pipeline = options.pipeline;
  if (name == "mb")
    pipeline.microbatches = count(value, 1);
  else if (name == "stages")
    pipeline.stages_per_rank = count(value, 1);
  else if (name == "rank")
    pipeline.rank = count(value, 0);
  else if (const auto kind = profile::pipeline_called(name); kind && value.empty())
    pipeline.kind = *kind;
  else
    return false;
  return true;
}

bool read_no_option(ParallelOptions&, const std::string&, const std::string&) { return false; }

void read_data(ParallelOptions& options, DataEngine engine) {
  if (options.data != DataEngine::none) refuse(options.text, "it has two engines for the data.");
  options.data = engine;
}

void read_ddp(ParallelOptions& options, const std::string& ranks) {
  read_data(options, DataEngine::ddp);
  options.replicas = count(ranks, 2);
}

void read_fsdp(ParallelOptions& options, const std::string& ranks) {
  read_data(options, DataEngine::fsdp);
  options.shards = count(ranks, 2);
}

void read_hsdp(ParallelOptions& options, const std::string& ranks) {
  read_data(options, DataEngine::fsdp);
  const std::vector<std::string> mesh = split(ranks, "x");
  if (mesh.size() != 2) refuse(options.text, "HSDP has a mesh of two dimensions.");
  options.replicas = count(mesh[0], 2);
  options.shards = count(mesh[1], 2);
}

void read_tensor(ParallelOptions& options, const std::string& ranks) {
  options.tensor = count(ranks, 2);
}

void read_expert(ParallelOptions& options, const std::string& ranks) {
  options.expert = count(ranks, 2);
}

void read_pipeline(ParallelOptions& options, const std::string& ranks) {
  options.pipeline.ranks = count(ranks, 2);
}

struct EngineWord {
  std::string_view name;
  void (*read)(ParallelOptions& options, const std::string& ranks);
  bool (*read_option)(ParallelOptions& options, const std::string& name, const std::string& value);
};
constexpr EngineWord engine_words[] = {
    {"ddp", read_ddp, read_ddp_option},    {"fsdp", read_fsdp, read_fsdp_option},
    {"hsdp", read_hsdp, read_fsdp_option}, {"tp", read_tensor, read_tensor_option},
    {"ep", read_expert, read_no_option},   {"pp", read_pipeline, read_pipeline_option}};

void read_word(ParallelOptions& options, const std::string& word) {
  const std::vector<std::string> parts = split(word, ":");
  const auto [engine, ranks] = name_and_value(parts.front());
  const auto* row = std::ranges::find(engine_words, engine, &EngineWord::name);
  if (row == std::end(engine_words)) refuse(options.text, "there is no engine '" + engine + "'.");
  row->read(options, ranks);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto [name, value] = name_and_value(parts[i]);
    if (!row->read_option(options, name, value))
      refuse(options.text, "'" + parts[i] + "' is no option of " + engine + ".");
  }
}

/// DistributedDataParallel does not accept DTensors, replicate() does: FSDP2 with one shard.
void replicate_tensors(ParallelOptions& options) {
  if (options.gradient_as_bucket_view || options.bucket_cap_bytes)
    refuse(options.text,
           "DistributedDataParallel takes no DTensors, and PyTorch's replicate() has no buckets.");
  options.data = DataEngine::fsdp;
  options.reshard = Reshard::never;
}

/// Experts are spread over the ranks with different samples; without another engine, FSDP2 has the
/// other parameters.
void spread_experts(ParallelOptions& options) {
  if (options.data == DataEngine::none)
    options.data = DataEngine::fsdp, options.shards = options.expert;
  const std::string ranks = std::to_string(options.expert);
  const std::string beside_data =
      "Give 'fsdp=" + ranks + " ep=" + ranks + "' or 'ddp=" + ranks + " ep=" + ranks + "'";
  if (options.tensor > 1 || options.pipeline.ranks > 1)
    refuse(options.text, "experts beside tp or pp are not simulated.",
           beside_data + ", or leave ep out.");
  if (options.expert != (options.data == DataEngine::ddp ? options.replicas : options.shards) ||
      options.replicas * options.shards != options.expert)
    refuse(options.text, "ep has as many ranks as ddp or fsdp, and hsdp has none.",
           beside_data + ".");
  if (options.param_dtype || options.reduce_dtype)
    refuse(options.text, "FSDP2 leaves the experts alone, and casts nothing of them.",
           "Leave param and reduce out: experts and the rest are then in one type (dtype=bf16).");
}

void check(const ParallelOptions& options) {
  const PipelineOptions& pipeline = options.pipeline;
  if (options.rank >= options.shards || pipeline.rank.value_or(0) >= pipeline.ranks)
    refuse(options.text, "there is no such rank.");
  if (pipeline.ranks == 1) return;
  if (options.data != DataEngine::none && pipeline.stages_per_rank > 1)
    refuse(options.text, "copies or shards of several stages on a rank are not simulated.");
  try {
    profile::work_of({pipeline.kind, static_cast<int>(pipeline.ranks),
                      static_cast<int>(pipeline.stages_per_rank),
                      static_cast<int>(pipeline.microbatches)});
  } catch (const Error& error) {
    throw Error(SettingRef{"parallel", options.text}, error.problem(), error.advice());
  }
}

}  // namespace

ParallelOptions parse_parallel(const std::string& given) {
  ParallelOptions options{.text = given};
  for (const std::string& word : split(given, " ,")) read_word(options, word);
  if (options.pipeline.kind == PipelineKind::interleaved ||
      options.pipeline.kind == PipelineKind::looped_bfs)
    options.pipeline.stages_per_rank = std::max<std::int64_t>(options.pipeline.stages_per_rank, 2);
  if (options.expert > 1) spread_experts(options);
  if (options.data == DataEngine::ddp && options.tensor > 1) replicate_tensors(options);
  check(options);
  return options;
}

}  // namespace symprof::settings
