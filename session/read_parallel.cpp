#include "session/read_parallel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "session/read_text.h"
#include "session/setting_names.h"

namespace symprof::settings {
namespace {

constexpr auto advice =
    "Give ddp=8, fsdp=8, hsdp=2x4 or tp=4, and after colons: of ddp view, cap=25MiB; of fsdp and "
    "hsdp "
    "keep, reshard, reshard=4, param=bf16, reduce=fp32, rank=7; of tp sp.";

[[noreturn]] void refuse(const std::string& given, const std::string& problem) {
  throw Error(SettingRef{"parallel", given}, problem, advice);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end = 0; end != text.npos; start = end + 1) {
    end = text.find(separator, start);
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

void read_engine(ParallelOptions& options, const std::string& text) {
  const auto [name, ranks] = name_and_value(text);
  if (name == "ddp") {
    options.engine = ParallelEngine::ddp;
    options.replicas = count(ranks, 2);
    return;
  }
  if (name == "tp") {
    options.engine = ParallelEngine::tensor;
    options.tensor = count(ranks, 2);
    return;
  }
  options.engine = ParallelEngine::fsdp;
  if (name == "fsdp") {
    options.shards = count(ranks, 2);
    return;
  }
  const std::vector<std::string> mesh = split(ranks, 'x');
  if (name != "hsdp") refuse(options.text, "there is no engine '" + name + "'.");
  if (mesh.size() != 2) refuse(options.text, "HSDP has a mesh of two dimensions.");
  options.replicas = count(mesh[0], 2);
  options.shards = count(mesh[1], 2);
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
  if (name != "sp" || !value.empty()) return false;
  options.sequence = true;
  return true;
}

bool read_option(ParallelOptions& options, const std::string& name, const std::string& value) {
  switch (options.engine) {
    case ParallelEngine::ddp:
      return read_ddp_option(options, name, value);
    case ParallelEngine::fsdp:
      return read_fsdp_option(options, name, value);
    case ParallelEngine::tensor:
      return read_tensor_option(options, name, value);
  }
  return false;
}

}  // namespace

ParallelOptions parse_parallel(const std::string& given) {
  ParallelOptions options{.text = given};
  const std::vector<std::string> parts = split(given, ':');
  read_engine(options, parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto [name, value] = name_and_value(parts[i]);
    if (!read_option(options, name, value)) refuse(given, "'" + parts[i] + "' is no option of it.");
  }
  if (options.rank >= options.shards) refuse(given, "there is no such rank.");
  return options;
}

}  // namespace symprof::settings
