#include "report/onnx/node_data.h"

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

/// "domain::Op", as a node calls a function.
std::string callee(std::string_view domain, std::string_view op) {
  return std::string(domain) + "::" + std::string(op);
}

/// Nodes of a function's body are named after the call: "call/node".
std::optional<std::int64_t> sum_inside(const NodeCosts& costs, const std::string& call) {
  const std::string prefix = call + "/";
  std::optional<std::int64_t> sum;
  for (auto each = costs.lower_bound(prefix);
       each != costs.end() && each->first.starts_with(prefix); ++each)
    sum = sum.value_or(0) + each->second;
  return sum;
}

std::string numbered(const std::string& name, int before) {
  return before == 0 ? name : fmt::format("{}_{}", name, before);
}

NodeCosts costs_of_nodes(const onnx::ModelProto& model, const NodeCosts& costs) {
  std::set<std::string> functions;
  for (const onnx::FunctionProto& function : model.functions())
    functions.insert(callee(function.domain(), function.name()));
  NodeCosts found;
  std::unordered_map<std::string, int> of_op;
  int unnamed = 0;
  for (const onnx::NodeProto& node : model.graph().node()) {
    std::string name = node.name(), key = node.name();
    if (name.empty()) {
      // A profile calls them "Cast", "Cast_1", …, Model Explorer's adapter "node", "node_1", ….
      name = numbered(node.op_type(), of_op[node.op_type()]++);
      key = numbered("node", unnamed++);
    }
    std::optional<std::int64_t> cost;
    if (const auto own = costs.find(name); own != costs.end())
      cost = own->second;
    else if (functions.contains(callee(node.domain(), node.op_type())))
      cost = sum_inside(costs, name);
    if (cost) found[key] = *cost;
  }
  return found;
}

}  // namespace

void write_model_explorer(fmt::memory_buffer& out, const onnx::ModelProto& model,
                          const std::string& figure, const NodeCosts& costs) {
  JsonWriter json(out);
  json.begin_object();
  json.key(model.graph().name());
  json.begin_object();
  json.member("name", std::string_view(figure));
  json.key("results");
  json.begin_object();
  for (const auto& [name, cost] : costs_of_nodes(model, costs)) {
    json.line(4);
    json.key(name);
    json.begin_object();
    json.member("value", cost);
    json.end_object();
  }
  json.end_object();
  json.key("gradient");
  json.begin_array();
  for (const int stop : {0, 1}) {
    json.begin_object();
    json.member("stop", stop);
    json.member("bgColor", std::string_view(stop == 0 ? "#ffffff" : "#ff3737"));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_document();
}

}  // namespace symprof::report
