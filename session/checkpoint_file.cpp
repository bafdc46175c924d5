#include "session/checkpoint_file.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace symprof {
namespace {

using Json = nlohmann::json;

constexpr auto wanted =
    "Give what `symprof plan checkpoint` writes as JSON, or a list of {\"modules\", \"keep\"} "
    "under \"regions\".";

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw Error(path, problem, wanted);
}

std::vector<std::string> texts(const Json& parent, const char* key, const std::string& path) {
  if (!parent.contains(key)) return {};
  try {
    return parent.at(key).get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    refuse(path, fmt::format("\"{}\" is no list of texts", key));
  }
}

CheckpointRegion region_of(const Json& json, const std::string& path) {
  if (!json.is_object()) refuse(path, "\"regions\" holds something else than objects");
  CheckpointRegion region{.modules = texts(json, "modules", path)};
  if (region.modules.empty()) refuse(path, "a region names no modules");
  for (const std::string& text : texts(json, "keep", path)) try {
      region.kept.push_back(parse_kept_call(text));
    } catch (const Error& error) {
      throw Error(path, error.problem(unspelled), error.advice(unspelled));
    }
  return region;
}

}  // namespace

CheckpointPlan load_checkpoint_plan(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path, "there is no such file, or it cannot be read");
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) refuse(path, "is not well-formed JSON");
  if (json.is_object() && json.contains("plan")) json = Json(json.at("plan"));
  if (!json.is_object() || !(json.contains("regions") || json.contains("offload")))
    refuse(path, "holds no plan");
  CheckpointPlan plan{.offloaded = texts(json, "offload", path), .path = path};
  if (json.contains("regions")) {
    if (!json.at("regions").is_array()) refuse(path, "\"regions\" is no list");
    for (const Json& region : json.at("regions")) plan.regions.push_back(region_of(region, path));
  }
  return plan;
}

}  // namespace symprof
