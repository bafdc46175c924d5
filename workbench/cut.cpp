#include "workbench/cut.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/nearest.h"
#include "trace/onnx/order.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

using Names = std::unordered_set<std::string>;

/// Removes the elements of `list` for which `unwanted` is true, keeping the order of the others.
template <class List, class Unwanted>
void erase_if(List& list, Unwanted unwanted) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (unwanted(list.Get(i))) continue;
    if (kept != i) list.SwapElements(kept, i);
    ++kept;
  }
  list.DeleteSubrange(kept, list.size() - kept);
}

class Cut {
 public:
  Cut(onnx::ModelProto& model, const std::string& path)
      : graph_(*model.mutable_graph()), path_(path) {
    infer_types(model);
    for (const auto* list : {&graph_.input(), &graph_.output(), &graph_.value_info()})
      for (const onnx::ValueInfoProto& value : *list) types_.emplace(value.name(), value);
    for (int i = 0; i < graph_.node_size(); ++i) {
      for (const std::string& output : graph_.node(i).output()) makers_.emplace(output, i);
      if (!graph_.node(i).name().empty()) by_name_.emplace(graph_.node(i).name(), i);
    }
    for (const onnx::TensorProto& tensor : graph_.initializer()) given_.insert(tensor.name());
    for (const onnx::ValueInfoProto& input : graph_.input()) given_.insert(input.name());
  }

  void run(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    for (const std::string& name : from) begin_at(name);
    std::vector<std::string> ends = outputs(to);
    walk(ends);
    erase_nodes();
    set_inputs();
    set_outputs(ends);
  }

 private:
  [[noreturn]] void throw_unknown(const std::string& name, const char* option) const {
    std::vector<std::string> names;
    for (const auto& [known, node] : makers_) names.push_back(known);
    for (const auto& [known, node] : by_name_) names.push_back(known);
    std::sort(names.begin(), names.end());
    throw Error(SettingRef{option}, fmt::format("{} has no value or node '{}'.", path_, name),
                did_you_mean(name, names));
  }

  void begin_at(const std::string& name) {
    if (makers_.contains(name) || given_.contains(name)) {
      starts_.insert(name);
      return;
    }
    const auto node = by_name_.find(name);
    if (node == by_name_.end()) throw_unknown(name, "from");
    for (const std::string& input : graph_.node(node->second).input())
      if (!input.empty() && makers_.contains(input)) starts_.insert(input);
  }

  std::vector<std::string> outputs(const std::vector<std::string>& to) const {
    std::vector<std::string> ends;
    if (to.empty())
      for (const onnx::ValueInfoProto& output : graph_.output()) ends.push_back(output.name());
    for (const std::string& name : to) {
      if (makers_.contains(name)) {
        ends.push_back(name);
        continue;
      }
      const auto node = by_name_.find(name);
      if (node == by_name_.end()) throw_unknown(name, "to");
      for (const std::string& output : graph_.node(node->second).output())
        if (!output.empty()) ends.push_back(output);
    }
    return ends;
  }

  void walk(std::vector<std::string> wanted) {
    const std::size_t ends = wanted.size();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string name = wanted[i];
      // The part does not make a value that it both begins and ends at.
      if (starts_.contains(name) && i >= ends) continue;
      const auto maker = makers_.find(name);
      if (maker == makers_.end() || !kept_.insert(maker->second).second) continue;
      for (std::string& read : trace::names_read(graph_.node(maker->second))) {
        read_.insert(read);
        wanted.push_back(std::move(read));
      }
    }
  }

  void erase_nodes() {
    int at = 0;
    erase_if(*graph_.mutable_node(), [&](const auto&) { return !kept_.contains(at++); });
  }

  void set_inputs() {
    erase_if(*graph_.mutable_input(),
             [&](const auto& input) { return !read_.contains(input.name()); });
    for (const std::string& name : std::set<std::string>(starts_.begin(), starts_.end())) {
      const auto maker = makers_.find(name);
      const bool is_made = maker != makers_.end() && kept_.contains(maker->second);
      if (read_.contains(name) && !is_made && !given_.contains(name))
        *graph_.add_input() = type_of(name);
    }
  }

  void set_outputs(const std::vector<std::string>& ends) {
    graph_.clear_output();
    for (const std::string& name : ends) *graph_.add_output() = type_of(name);
  }

  const onnx::ValueInfoProto& type_of(const std::string& name) const {
    const auto found = types_.find(name);
    if (found == types_.end() ||
        found->second.type().value_case() == onnx::TypeProto::VALUE_NOT_SET)
      throw Error(path_,
                  fmt::format("the type of '{}' is not known, so no model can begin or end "
                              "there",
                              name),
                  "Cut at another value.");
    return found->second;
  }

  onnx::GraphProto& graph_;
  const std::string& path_;
  std::unordered_map<std::string, onnx::ValueInfoProto> types_;
  std::unordered_map<std::string, int> makers_, by_name_;
  Names given_, starts_, read_;
  std::unordered_set<int> kept_;
};

using FunctionId = std::pair<std::string, std::string>;

void drop_unused_functions(onnx::ModelProto& model) {
  std::set<FunctionId> used;
  std::vector<const onnx::FunctionProto*> reached;
  const auto note = [&](const onnx::NodeProto& node) {
    if (!used.insert({node.domain(), node.op_type()}).second) return;
    for (const onnx::FunctionProto& function : model.functions())
      if (function.domain() == node.domain() && function.name() == node.op_type())
        reached.push_back(&function);
  };
  for_all_nodes(model.graph().node(), note);
  for (std::size_t i = 0; i < reached.size(); ++i) for_all_nodes(reached[i]->node(), note);
  erase_if(*model.mutable_functions(), [&](const onnx::FunctionProto& function) {
    return !used.contains({function.domain(), function.name()});
  });
}

void drop_unused_opsets(onnx::ModelProto& model) {
  std::set<std::string> domains{""};
  const auto note = [&](const onnx::NodeProto& node) {
    domains.insert(std::string(plain_domain(node.domain())));
  };
  for_all_nodes(model.graph().node(), note);
  for (const onnx::FunctionProto& function : model.functions()) {
    domains.insert(function.domain());
    for_all_nodes(function.node(), note);
  }
  erase_if(*model.mutable_opset_import(), [&](const onnx::OperatorSetIdProto& opset) {
    return !domains.contains(std::string(plain_domain(opset.domain())));
  });
}

}  // namespace

void drop_unused_values(onnx::GraphProto& graph) {
  Names read, made;
  for (const onnx::NodeProto& node : graph.node()) {
    for (std::string& name : trace::names_read(node)) read.insert(std::move(name));
    made.insert(node.output().begin(), node.output().end());
  }
  for (const onnx::ValueInfoProto& output : graph.output()) read.insert(output.name());
  erase_if(*graph.mutable_initializer(),
           [&](const onnx::TensorProto& tensor) { return !read.contains(tensor.name()); });
  erase_if(*graph.mutable_value_info(),
           [&](const onnx::ValueInfoProto& value) { return !made.contains(value.name()); });
}

void drop_unused(onnx::ModelProto& model) {
  drop_unused_values(*model.mutable_graph());
  drop_unused_functions(model);
  drop_unused_opsets(model);
}

void cut(onnx::ModelProto& model, const std::vector<std::string>& from,
         const std::vector<std::string>& to, const std::string& path) {
  Cut(model, path).run(from, to);
  drop_unused(model);
}

}  // namespace symprof::workbench
