#include "workbench/inline.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "workbench/cut.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

using FunctionKey = std::tuple<std::string, std::string, std::string>;
using Renaming = std::unordered_map<std::string, std::string>;
using Attributes = std::unordered_map<std::string, const onnx::AttributeProto*>;
using NodeField = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

constexpr int most_nodes = 2'000'000;
constexpr std::size_t most_calls_deep = 200;

std::map<std::string, std::int64_t> versions_of(const auto& opsets) {
  std::map<std::string, std::int64_t> versions;
  for (const onnx::OperatorSetIdProto& opset : opsets)
    versions[std::string(plain_domain(opset.domain()))] = opset.version();
  return versions;
}

class Inliner {
 public:
  Inliner(onnx::ModelProto& model, const std::string& path) : model_(model), path_(path) {}

  InlineReport run(const std::function<bool(const onnx::FunctionProto&)>& chosen) {
    const auto model_versions = versions_of(model_.opset_import());
    functions_.assign(model_.functions().begin(), model_.functions().end());
    for (const onnx::FunctionProto& function : functions_) {
      if (!chosen(function)) continue;
      const std::string why = clash(function, model_versions);
      if (why.empty())
        bodies_[{function.domain(), function.name(), function.overload()}] = &function;
      else
        report_.kept.push_back(fmt::format("{} ({})", function.name(), why));
    }
    if (bodies_.empty()) return std::move(report_);
    note_names(model_.graph());
    expand(*model_.mutable_graph()->mutable_node());
    for (onnx::FunctionProto& function : *model_.mutable_functions()) expand_function(function);
    add_opsets(model_versions);
    drop_unused(model_);
    return std::move(report_);
  }

 private:
  /// Why the body has another meaning under the model's opsets; empty: it has not.
  std::string clash(const onnx::FunctionProto& function,
                    const std::map<std::string, std::int64_t>& model_versions) const {
    const auto own = versions_of(function.opset_import());
    for (const onnx::NodeProto& node : function.node()) {
      const std::string domain(plain_domain(node.domain()));
      const auto ours = own.find(domain);
      const auto theirs = model_versions.find(domain);
      if (ours == own.end() || theirs == model_versions.end() || ours->second == theirs->second)
        continue;
      const auto since = [&](std::int64_t version) {
        const onnx::OpSchema* schema =
            onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(version), domain);
        return schema ? schema->SinceVersion() : -1;
      };
      if (since(ours->second) != since(theirs->second))
        return fmt::format("its {} is that of opset {}, the model's that of {}", node.op_type(),
                           ours->second, theirs->second);
    }
    return {};
  }

  void note_names(const onnx::GraphProto& graph) {
    for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()})
      for (const onnx::ValueInfoProto& value : *list) names_.insert(value.name());
    for (const onnx::TensorProto& tensor : graph.initializer()) names_.insert(tensor.name());
    for (const onnx::NodeProto& node : graph.node()) note_names(node);
  }

  void note_names(const onnx::NodeProto& node) {
    names_.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) note_names(attribute.g());
  }

  std::string fresh(const std::string& name) {
    if (names_.insert(name).second) return name;
    int& last = last_suffix_[name];
    if (last == 0) last = 1;
    std::string other;
    do {
      other = fmt::format("{}__{}", name, ++last);
    } while (!names_.insert(other).second);
    return other;
  }

  void expand_function(onnx::FunctionProto& function) {
    if (bodies_.contains({function.domain(), function.name(), function.overload()})) return;
    names_.clear();
    last_suffix_.clear();
    names_.insert(function.input().begin(), function.input().end());
    for (const onnx::NodeProto& node : function.node()) note_names(node);
    expand(*function.mutable_node());
    for (const auto& [domain, version] : versions_needed_) {
      const auto own = versions_of(function.opset_import());
      if (own.contains(domain)) continue;
      auto* opset = function.add_opset_import();
      opset->set_domain(domain);
      opset->set_version(version);
    }
  }

  const onnx::FunctionProto* callee(const onnx::NodeProto& node) const {
    const auto found = bodies_.find({node.domain(), node.op_type(), node.overload()});
    return found == bodies_.end() ? nullptr : found->second;
  }

  void expand(NodeField& nodes) {
    bool calls = false;
    for (onnx::NodeProto& node : nodes) {
      calls |= callee(node) != nullptr;
      for (onnx::AttributeProto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) expand(*attribute.mutable_g()->mutable_node());
    }
    if (!calls) return;
    NodeField old;
    old.Swap(&nodes);
    for (onnx::NodeProto& node : old) {
      if (const onnx::FunctionProto* function = callee(node))
        call(node, *function, nodes);
      else
        nodes.Add()->Swap(&node);
    }
  }

  void call(const onnx::NodeProto& node, const onnx::FunctionProto& function, NodeField& out) {
    for (const onnx::FunctionProto* outer : stack_)
      if (outer == &function) fail(function, "calls itself");
    if (stack_.size() >= most_calls_deep) fail(function, "is called too many functions deep");
    stack_.push_back(&function);
    ++report_.calls;
    for (const auto& [domain, version] : versions_of(function.opset_import()))
      versions_needed_.try_emplace(domain, version);
    Attributes attributes;
    for (const onnx::AttributeProto& standard : function.attribute_proto())
      attributes[standard.name()] = &standard;
    for (const onnx::AttributeProto& given : node.attribute()) attributes[given.name()] = &given;
    NodeField body, copies;
    Renaming names = bind(node, function, copies);
    for (const onnx::NodeProto& inner : function.node()) {
      if (++nodes_made_ > most_nodes) fail(function, "makes millions of nodes");
      onnx::NodeProto& made = *body.Add();
      made = inner;
      rename_results(made, names);
      rename(made, names, attributes);
      describe(made, inner, node);
    }
    expand(body);
    for (onnx::NodeProto& made : body) out.Add()->Swap(&made);
    for (onnx::NodeProto& copy : copies) out.Add()->Swap(&copy);
    stack_.pop_back();
  }

  [[noreturn]] void fail(const onnx::FunctionProto& function, const char* problem) const {
    throw Error(path_, fmt::format("function {} {}", function.name(), problem),
                "Such a model cannot be inlined.");
  }

  /// Maps the body's names to the inputs and outputs of the call.
  Renaming bind(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                NodeField& copies) {
    Renaming names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < node.input_size() ? node.input(i) : std::string();
    for (int i = 0; i < function.output_size(); ++i) {
      const std::string actual = i < node.output_size() ? node.output(i) : std::string();
      const auto input = names.find(function.output(i));
      if (input == names.end()) {
        names[function.output(i)] = actual.empty() ? fresh(function.output(i)) : actual;
      } else if (!actual.empty()) {  // An input, or a result returned twice.
        onnx::NodeProto& copy = *copies.Add();
        copy.set_op_type("Identity");
        copy.add_input(input->second);
        copy.add_output(actual);
      }
    }
    return names;
  }

  void rename_results(const onnx::NodeProto& node, Renaming& names) {
    for (const std::string& output : node.output())
      if (!output.empty() && !names.contains(output)) names[output] = fresh(output);
  }

  void rename(onnx::NodeProto& node, const Renaming& names, const Attributes& attributes) {
    const auto renamed = [&](std::string& name) {
      if (const auto found = names.find(name); found != names.end()) name = found->second;
    };
    for (std::string& input : *node.mutable_input()) renamed(input);
    for (std::string& output : *node.mutable_output()) renamed(output);
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> old;
    old.Swap(node.mutable_attribute());
    for (onnx::AttributeProto& attribute : old) {
      if (!attribute.ref_attr_name().empty()) {
        const auto actual = attributes.find(attribute.ref_attr_name());
        if (actual == attributes.end()) continue;
        const std::string name = attribute.name();
        onnx::AttributeProto& copy = *node.add_attribute();
        copy = *actual->second;
        copy.set_name(name);
        continue;
      }
      if (attribute.has_g()) rename(*attribute.mutable_g(), names, attributes);
      node.add_attribute()->Swap(&attribute);
    }
  }

  /// A name defined by a subgraph shadows the body's.
  void rename(onnx::GraphProto& graph, Renaming names, const Attributes& attributes) {
    for (const onnx::ValueInfoProto& input : graph.input()) names.erase(input.name());
    for (const onnx::TensorProto& tensor : graph.initializer()) names.erase(tensor.name());
    for (const onnx::NodeProto& node : graph.node())
      for (const std::string& output : node.output()) names.erase(output);
    for (onnx::NodeProto& node : *graph.mutable_node()) rename(node, names, attributes);
    for (onnx::ValueInfoProto& output : *graph.mutable_output())
      if (const auto found = names.find(output.name()); found != names.end()) {
        onnx::NodeProto& copy = *graph.add_node();  // A subgraph output taken from outside.
        copy.set_op_type("Identity");
        copy.add_input(found->second);
        copy.add_output(output.name());
      }
  }

  static void describe(onnx::NodeProto& made, const onnx::NodeProto& inner,
                       const onnx::NodeProto& call) {
    if (inner.metadata_props_size() == 0) *made.mutable_metadata_props() = call.metadata_props();
    const std::string own = inner.name().empty() ? inner.op_type() : inner.name();
    if (!call.name().empty()) made.set_name(call.name() + "/" + own);
  }

  void add_opsets(const std::map<std::string, std::int64_t>& known) {
    for (const auto& [domain, version] : versions_needed_) {
      if (known.contains(domain)) continue;
      auto* opset = model_.add_opset_import();
      opset->set_domain(domain);
      opset->set_version(version);
    }
  }

  onnx::ModelProto& model_;
  const std::string& path_;
  std::vector<onnx::FunctionProto> functions_;  // As before, while bodies change.
  std::map<FunctionKey, const onnx::FunctionProto*> bodies_;
  std::vector<const onnx::FunctionProto*> stack_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> last_suffix_;
  std::map<std::string, std::int64_t> versions_needed_;
  InlineReport report_;
  int nodes_made_ = 0;
};

}  // namespace

bool matches(const std::string& glob, const onnx::FunctionProto& function) {
  const std::string whole = function.domain() + "." + function.name();
  return fnmatch(glob.c_str(), function.name().c_str(), 0) == 0 ||
         fnmatch(glob.c_str(), whole.c_str(), 0) == 0;
}

InlineReport inline_functions(onnx::ModelProto& model,
                              const std::function<bool(const onnx::FunctionProto&)>& chosen,
                              const std::string& path) {
  return Inliner(model, path).run(chosen);
}

InlineReport inline_functions(onnx::ModelProto& model, const std::string& choice,
                              const std::string& path) {
  if (choice == "keep") return {};
  return inline_functions(
      model,
      [&](const onnx::FunctionProto& function) {
        return choice == "inline" || matches(choice, function);
      },
      path);
}

}  // namespace symprof::workbench
