#include "workbench/partition.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "trace/onnx/order.h"
#include "workbench/cut.h"
#include "workbench/nodes.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

constexpr const char* function_domain = "modules";
constexpr int no_part = -1;

bool is_list_element(const std::string& path) {
  const std::string last = path.substr(path.rfind('.') + 1);
  return path.find('.') != path.npos && !last.empty() &&
         std::all_of(last.begin(), last.end(), is_digit);
}

/// One module: its nodes, and its call once created.
struct Part {
  std::string path, type;
  std::vector<int> nodes;
  std::vector<std::string> inputs, outputs;
};

class Partition {
 public:
  Partition(onnx::ModelProto& model, const std::vector<std::string>& modules)
      : model_(model), graph_(*model.mutable_graph()), modules_(modules) {
    for (const onnx::NodeProto& node : graph_.node()) {
      nodes_.push_back(&node);
      reads_.push_back(trace::names_read(node));
    }
    part_of_.assign(nodes_.size(), no_part);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const std::string& output : nodes_[i]->output())
        makers_.emplace(output, static_cast<int>(i));
  }

  PartitionReport run() {
    find_parts();
    for (std::size_t i = 0; i < parts_.size(); ++i) keep_convex(static_cast<int>(i));
    find_borders();
    rewrite();
    drop_unused(model_);
    return std::move(report_);
  }

 private:
  const ModuleStep* chosen(const std::vector<ModuleStep>& steps) const {
    for (const ModuleStep& step : steps) {
      if (modules_.empty() && is_list_element(step.path)) return &step;
      for (const std::string& glob : modules_)
        if (fnmatch(glob.c_str(), step.path.c_str(), 0) == 0) return &step;
    }
    return nullptr;
  }

  void find_parts() {
    std::unordered_map<std::string, int> known;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_constant(*nodes_[i])) continue;
      const auto steps = modules_of(*nodes_[i]);
      const ModuleStep* step = chosen(steps);
      if (!step) continue;
      const auto [found, added] = known.try_emplace(step->path, static_cast<int>(parts_.size()));
      if (added) parts_.push_back({step->path, step->type, {}, {}, {}});
      part_of_[i] = found->second;
      parts_[static_cast<std::size_t>(found->second)].nodes.push_back(static_cast<int>(i));
    }
  }

  int maker(const std::string& name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() ? -1 : found->second;
  }

  /// Shrinks a part to be convex: it can be one call only if no outside node lies between two of
  /// its nodes.
  void keep_convex(int part) {
    std::vector<bool> after(nodes_.size());  // Outside the part and dependent on it.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      bool reads_part = false, reads_after = false;
      for (const std::string& name : reads_[i]) {
        const int made = maker(name);
        if (made < 0) continue;
        reads_part |= part_of_[static_cast<std::size_t>(made)] == part;
        reads_after |= after[static_cast<std::size_t>(made)];
      }
      if (part_of_[i] != part) {
        after[i] = reads_part || reads_after;
      } else if (reads_after) {
        dissolve(part, fmt::format("{} lies between its nodes", describe_between(after, i)));
        return;
      }
    }
  }

  std::string describe_between(const std::vector<bool>& after, std::size_t node) const {
    for (const std::string& name : reads_[node])
      if (const int made = maker(name); made >= 0 && after[static_cast<std::size_t>(made)])
        return trace::describe(*nodes_[static_cast<std::size_t>(made)],
                               static_cast<std::size_t>(made));
    return "a node";
  }

  void dissolve(int part, const std::string& why) {
    Part& gone = parts_[static_cast<std::size_t>(part)];
    report_.left.push_back(fmt::format("{}: {}", gone.path, why));
    for (const int node : gone.nodes) part_of_[static_cast<std::size_t>(node)] = no_part;
    gone.nodes.clear();
  }

  void find_borders() {
    std::vector<std::set<std::string>> made(parts_.size()), read_outside(parts_.size());
    for (const onnx::ValueInfoProto& output : graph_.output())
      note_read(output.name(), no_part, read_outside);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const std::string& name : reads_[i]) note_read(name, part_of_[i], read_outside);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::set<std::string> seen;
      for (const int node : parts_[p].nodes) {
        for (const std::string& name : reads_[static_cast<std::size_t>(node)]) {
          const int from = maker(name);
          const bool inside =
              from >= 0 && part_of_[static_cast<std::size_t>(from)] == static_cast<int>(p);
          const bool copied = from >= 0 && is_constant(*nodes_[static_cast<std::size_t>(from)]);
          if (!inside && !copied && seen.insert(name).second) parts_[p].inputs.push_back(name);
        }
        for (const std::string& name : nodes_[static_cast<std::size_t>(node)]->output())
          if (read_outside[p].contains(name)) parts_[p].outputs.push_back(name);
      }
    }
  }

  void note_read(const std::string& name, int reader,
                 std::vector<std::set<std::string>>& read_outside) const {
    const int from = maker(name);
    if (from < 0) return;
    const int part = part_of_[static_cast<std::size_t>(from)];
    if (part != no_part && part != reader)
      read_outside[static_cast<std::size_t>(part)].insert(name);
  }

  /// The body with names that depend on its structure alone, so that equal modules have equal
  /// bodies.
  onnx::FunctionProto body_of(const Part& part) const {
    onnx::FunctionProto function;
    std::unordered_map<std::string, std::string> names;
    for (const std::string& input : part.inputs) {
      names[input] = fmt::format("in{}", names.size());
      function.add_input(names[input]);
    }
    int count = 0;
    const auto add = [&](const onnx::NodeProto& node) {
      onnx::NodeProto& copy = *function.add_node();
      copy = node;
      copy.clear_metadata_props();
      copy.clear_doc_string();
      copy.set_name(fmt::format("{}_{}", node.op_type(), count));
      for (std::string& input : *copy.mutable_input())
        if (const auto found = names.find(input); found != names.end()) input = found->second;
      for (std::string& output : *copy.mutable_output())
        if (!output.empty()) output = names[output] = fmt::format("v{}", count++);
      rename_captured(copy, names);
    };
    std::unordered_set<std::string> copied;
    for (const int index : part.nodes) {
      const onnx::NodeProto& node = *nodes_[static_cast<std::size_t>(index)];
      for (const std::string& name : reads_[static_cast<std::size_t>(index)]) {
        const int from = maker(name);
        if (from >= 0 && is_constant(*nodes_[static_cast<std::size_t>(from)]) &&
            copied.insert(name).second)
          add(*nodes_[static_cast<std::size_t>(from)]);
      }
      add(node);
    }
    for (const std::string& output : part.outputs) function.add_output(names[output]);
    return function;
  }

  static void rename_captured(onnx::NodeProto& node,
                              const std::unordered_map<std::string, std::string>& names) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      auto inner = names;
      const onnx::GraphProto& graph = attribute.g();
      for (const onnx::ValueInfoProto& input : graph.input()) inner.erase(input.name());
      for (const onnx::TensorProto& tensor : graph.initializer()) inner.erase(tensor.name());
      for (onnx::NodeProto& own : *attribute.mutable_g()->mutable_node()) {
        for (std::string& input : *own.mutable_input())
          if (const auto found = inner.find(input); found != inner.end()) input = found->second;
        rename_captured(own, inner);
      }
    }
  }

  /// The name of the function with this body, which is added to the model if new.
  std::string function_name(const Part& part) {
    onnx::FunctionProto body = body_of(part);
    const std::string bytes = body.SerializeAsString();
    if (const auto found = bodies_.find(bytes); found != bodies_.end()) return found->second;
    std::string name = part.type.substr(part.type.rfind('.') + 1);
    if (name.empty()) name = "Module";
    const std::string base = name;
    for (int i = 2; !function_names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    body.set_name(name);
    body.set_domain(function_domain);
    *body.mutable_opset_import() = model_.opset_import();
    ++report_.functions;
    made_functions_.push_back(std::move(body));
    return bodies_[bytes] = name;
  }

  void rewrite() {
    std::vector<onnx::NodeProto> calls(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      if (part.nodes.empty() || part.outputs.empty()) continue;
      calls[p].set_op_type(function_name(part));
      calls[p].set_domain(function_domain);
      calls[p].set_name(part.path);
      for (const std::string& input : part.inputs) calls[p].add_input(input);
      for (const std::string& output : part.outputs) calls[p].add_output(output);
      auto* entry = calls[p].add_metadata_props();
      entry->set_key("namespace");
      entry->set_value(part.path + ": " + part.type + "/call");
      ++report_.calls;
    }
    place(calls);
    if (report_.calls == 0) return;
    for (onnx::FunctionProto& function : made_functions_) model_.add_functions()->Swap(&function);
    auto* opset = model_.add_opset_import();
    opset->set_domain(function_domain);
    opset->set_version(1);
    if (model_.ir_version() < 8) model_.set_ir_version(8);  // Functions: onnx.proto, IR version 8.
  }

  /// Places nodes and calls in topological order.
  void place(std::vector<onnx::NodeProto>& calls) {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const int part = part_of_[i];
      if (part == no_part)
        *all.Add() = *nodes_[i];
      else if (parts_[static_cast<std::size_t>(part)].nodes.front() == static_cast<int>(i) &&
               calls[static_cast<std::size_t>(part)].output_size() > 0)
        *all.Add() = calls[static_cast<std::size_t>(part)];
    }
    std::unordered_set<std::string> made;
    for (const onnx::NodeProto& node : all) made.insert(node.output().begin(), node.output().end());
    google::protobuf::RepeatedPtrField<onnx::NodeProto> ordered;
    for (const onnx::NodeProto* node : trace::execution_order(
             all, [&](const std::string& name) { return !made.contains(name); }, "the model"))
      *ordered.Add() = *node;
    graph_.mutable_node()->Swap(&ordered);
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  const std::vector<std::string>& modules_;
  std::vector<const onnx::NodeProto*> nodes_;
  std::vector<std::vector<std::string>>
      reads_;  ///< The values that each node reads, including its subgraphs.
  std::vector<int> part_of_;
  std::unordered_map<std::string, int> makers_;
  std::vector<Part> parts_;
  std::map<std::string, std::string> bodies_;
  std::set<std::string> function_names_;
  std::vector<onnx::FunctionProto> made_functions_;
  PartitionReport report_;
};

}  // namespace

PartitionReport partition(onnx::ModelProto& model, const std::vector<std::string>& modules) {
  return Partition(model, modules).run();
}

}  // namespace symprof::workbench
