#include "workbench/draw/folded_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "trace/onnx/order.h"
#include "workbench/blocks.h"
#include "workbench/inline.h"
#include "workbench/nodes.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

/// A value with more readers in other modules than this is drawn again in each module.
constexpr std::size_t most_far_readers = 3;
/// Boxes that a fold inside of another saves at least: fewer are easier to read where they are.
constexpr int least_saved = 8;

class Folder {
 public:
  Folder(const onnx::ModelProto& model, const FoldOptions& options)
      : graph_(model.graph()), options_(options), nodes_(nodes_in_order(graph_)) {
    types_ = value_types(graph_);
    for (const onnx::TensorProto& tensor : graph_.initializer()) given_.insert(tensor.name());
    for (const onnx::NodeProto& node : graph_.node())
      if (is_constant(node)) given_.insert(node.output_size() > 0 ? node.output(0) : std::string());
    same_as_.resize(nodes_.size());
    copy_.resize(nodes_.size());
    block_of_.assign(nodes_.size(), -1);
    for (std::size_t i = 0; i < nodes_.size(); ++i) same_as_[i] = static_cast<int>(i);
    out_.clusters.push_back({});
    out_.nodes = static_cast<int>(nodes_.size());
  }

  FoldedGraph run() {
    if (options_.folds)
      fold(repeated_blocks(nodes_), 0);
    else if (options_.has_details && !have_modules())
      mark(repeated_blocks(nodes_));
    add_inputs();
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (same_as_[i] == static_cast<int>(i)) add_box(static_cast<int>(i));
    for (std::size_t i = 0; i < nodes_.size(); ++i) add_arrows(static_cast<int>(i));
    add_outputs();
    return std::move(out_);
  }

 private:
  /// Maps nodes of later copies to those of the first copy, recursively.
  void fold(const std::vector<RepeatedBlock>& blocks, int parent) {
    for (const RepeatedBlock& block : blocks) {
      if (parent != 0 && (block.times - 1) * block.length < least_saved) continue;
      const std::vector<ModuleStep> around = common_modules(block);
      const int around_all = cluster_in_modules(parent, around, around.size());
      const int cluster = static_cast<int>(out_.clusters.size());
      out_.clusters.push_back({fmt::format("{} × {}", block.times, title(block, around.size())),
                               around_all, block.times});
      modules_around_[cluster] = around.size();
      for (int i = 0; i < block.length; ++i) block_of_[node_of(block, 0, i)] = cluster;
      fold(block.inside, cluster);
      for (int copy = 1; copy < block.times; ++copy)
        for (int i = 0; i < block.length; ++i) {
          const std::size_t own = node_of(block, copy, i);
          same_as_[own] = same_as_[node_of(block, 0, i)];
          copy_[own] = copy;
        }
    }
  }

  static std::size_t node_of(const RepeatedBlock& block, int copy, int index) {
    const int node = block.first + copy * block.length + index;
    return static_cast<std::size_t>(node);
  }

  /// The modules that contain all nodes of all copies.
  std::vector<ModuleStep> common_modules(const RepeatedBlock& block) const {
    std::vector<ModuleStep> common = modules_of(*nodes_[node_of(block, 0, 0)]);
    for (int i = 1; i < block.times * block.length; ++i) {
      const auto modules = modules_of(*nodes_[node_of(block, 0, i)]);
      std::size_t same = 0;
      while (same < std::min(common.size(), modules.size()) &&
             common[same].path == modules[same].path)
        ++same;
      common.resize(same);
    }
    return common;
  }

  /// The first and the last copy by the outermost module that only that copy has, else the module
  /// that contains all.
  std::string title(const RepeatedBlock& block, std::size_t around) const {
    const std::string first = own_module(block, 0, 1, around),
                      last = own_module(block, block.times - 1, 0, around);
    if (!first.empty() && !last.empty()) return first + " … " + last;
    const auto modules = modules_of(*nodes_[node_of(block, 0, 0)]);
    return around > 0 ? modules[around - 1].path : place(*nodes_[node_of(block, 0, 0)]);
  }

  std::string own_module(const RepeatedBlock& block, int copy, int other,
                         std::size_t around) const {
    std::set<std::string> others;
    for (int i = 0; i < block.length; ++i)
      for (const ModuleStep& step : modules_of(*nodes_[node_of(block, other, i)]))
        others.insert(step.path);
    for (int i = 0; i < block.length; ++i) {
      const auto modules = modules_of(*nodes_[node_of(block, copy, i)]);
      for (std::size_t level = around; level < modules.size(); ++level)
        if (!others.contains(modules[level].path)) return modules[level].path;
    }
    return "";
  }

  bool have_modules() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const onnx::NodeProto* node) { return !modules_of(*node).empty(); });
  }

  /// A cluster for each block, and in it one for each copy.
  void mark(const std::vector<RepeatedBlock>& blocks) {
    for (const RepeatedBlock& block : blocks) {
      const int all = static_cast<int>(out_.clusters.size());
      out_.clusters.push_back({fmt::format("{} × {} nodes", block.times, block.length), 0, 1});
      for (int copy = 0; copy < block.times; ++copy) {
        const int own = static_cast<int>(out_.clusters.size());
        out_.clusters.push_back({fmt::format("block {}", copy), all, 1});
        for (int i = 0; i < block.length; ++i) block_of_[node_of(block, copy, i)] = own;
      }
    }
  }

  static std::string place(const onnx::NodeProto& node) {
    const auto modules = modules_of(node);
    // A list element, as layers.0, identifies a block better than the modules inside it.
    for (const ModuleStep& step : modules)
      if (!step.path.empty() && step.path.back() >= '0' && step.path.back() <= '9')
        return step.path;
    return modules.empty() ? node.op_type() : modules.back().path;
  }

  int cluster_of(int node) {
    const int block = std::max(block_of_[static_cast<std::size_t>(node)], 0);
    const auto modules = modules_of(*nodes_[static_cast<std::size_t>(node)]);
    return cluster_in_modules(block, modules, modules.size());
  }

  /// The cluster of the innermost of the first `count` of `modules`, inside the cluster of a block,
  /// which is inside the outermost of them.
  int cluster_in_modules(int cluster, const std::vector<ModuleStep>& modules, std::size_t count) {
    if (!options_.has_modules) return cluster;
    for (std::size_t level = modules_around_[cluster]; level < count; ++level) {
      const ModuleStep& step = modules[level];
      const auto [found, added] =
          modules_known_.try_emplace({cluster, step.path}, static_cast<int>(out_.clusters.size()));
      if (added) {
        const std::string type = step.type.substr(step.type.rfind('.') + 1);
        out_.clusters.push_back(
            {type.empty() ? step.path : step.path + " (" + type + ")", cluster, 1});
      }
      cluster = found->second;
    }
    return cluster;
  }

  void add_inputs() {
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      if (given_.contains(input.name())) continue;
      makers_[input.name()] = -static_cast<int>(out_.boxes.size()) - 1;
      out_.boxes.push_back(
          {Box::Kind::input, input.name(), type_text(input.type()), input.name(), 0});
    }
  }

  void add_box(int node) {
    const onnx::NodeProto& proto = *nodes_[static_cast<std::size_t>(node)];
    boxes_[node] = static_cast<int>(out_.boxes.size());
    out_.boxes.push_back(box_of_node(proto, cluster_of(node)));
  }

  Box box_of_node(const onnx::NodeProto& proto, int cluster) const {
    Box box{Box::Kind::node, qualified_op(proto), "",
            proto.name().empty() ? proto.op_type() : proto.name(), cluster};
    std::vector<std::string> notes;
    for (const std::string& input : proto.input())
      if (given_.contains(input)) {
        const auto type = types_.find(input);
        const bool is_weight = type != types_.end() && type->second.find(',') != type->second.npos;
        if (is_weight) notes.push_back(type->second);
      }
    for (const onnx::AttributeProto& attribute : proto.attribute())
      if (attribute.name() == "axis" || attribute.name() == "to" || attribute.name() == "group")
        notes.push_back(fmt::format("{}={}", attribute.name(), attribute.i()));
      else if (attribute.name() == "perm")
        notes.push_back(fmt::format("perm=[{}]", fmt::join(attribute.ints(), ",")));
    box.note = fmt::format("{}", fmt::join(notes, " "));
    if (options_.has_details) add_details(box, proto);
    return box;
  }

  std::string with_type(const std::string& value) const {
    const auto type = types_.find(value);
    return type == types_.end() ? value : value + ": " + type->second;
  }

  void add_details(Box& box, const onnx::NodeProto& proto) const {
    for (const std::string& input : proto.input()) box.inputs.push_back(with_type(input));
    for (const std::string& output : proto.output()) box.outputs.push_back(with_type(output));
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      std::string text =
          attribute.has_t()             ? type_text(attribute.t())
          : attribute.has_g()           ? fmt::format("{} nodes", attribute.g().node_size())
          : attribute.ints_size() > 0   ? fmt::format("[{}]", fmt::join(attribute.ints(), ", "))
          : attribute.floats_size() > 0 ? fmt::format("[{}]", fmt::join(attribute.floats(), ", "))
          : attribute.has_f()           ? fmt::format("{}", attribute.f())
          : attribute.has_s()           ? attribute.s()
          : attribute.has_i()           ? fmt::format("{}", attribute.i())
                                        : "…";
      box.attributes.push_back(attribute.name() + " = " + text);
    }
  }

  /// The bodies of a node, as clusters beside it.
  void add_bodies(const onnx::NodeProto& proto, int box) {
    for (const onnx::AttributeProto& attribute : proto.attribute())
      if (attribute.has_g()) add_body(proto, attribute, box);
  }

  void add_body(const onnx::NodeProto& proto, const onnx::AttributeProto& attribute, int box) {
    const onnx::GraphProto& graph = attribute.g();
    const int cluster = static_cast<int>(out_.clusters.size());
    const std::string owner = proto.name().empty() ? proto.op_type() : proto.name();
    out_.clusters.push_back(
        {attribute.name() + " of " + owner, out_.boxes[static_cast<std::size_t>(box)].cluster, 1});
    std::unordered_map<std::string, int> inside;  // The boxes that produce its values.
    for (const auto& [name, type] : value_types(graph)) types_.try_emplace(name, type);
    for (const onnx::TensorProto& tensor : graph.initializer()) given_.insert(tensor.name());
    for (int i = 0; i < graph.input_size(); ++i) {
      inside[graph.input(i).name()] = static_cast<int>(out_.boxes.size());
      if (i < proto.input_size()) arrow_from(proto.input(i), inside, out_.boxes.size());
      out_.boxes.push_back({Box::Kind::input, graph.input(i).name(),
                            type_text(graph.input(i).type()), graph.input(i).name(), cluster});
    }
    for (const onnx::NodeProto& node : graph.node()) {
      if (is_constant(node)) continue;
      const std::size_t own = out_.boxes.size();
      ++out_.nodes;
      out_.boxes.push_back(box_of_node(node, cluster));
      for (const std::string& name : trace::names_read(node)) arrow_from(name, inside, own);
      add_bodies(node, static_cast<int>(own));
      for (const std::string& output : node.output()) inside[output] = static_cast<int>(own);
    }
    for (const onnx::ValueInfoProto& output : graph.output())
      arrow_from(output.name(), inside, static_cast<std::size_t>(box));
  }

  void arrow_from(const std::string& value, const std::unordered_map<std::string, int>& inside,
                  std::size_t to) {
    const auto own = inside.find(value);
    const auto maker = makers_.find(value);
    if (own == inside.end() && maker == makers_.end()) return;
    const int from = own != inside.end() ? own->second
                     : maker->second < 0 ? -maker->second - 1
                                         : box_of(maker->second);
    const auto type = types_.find(value);
    if (from != static_cast<int>(to) && seen_.insert({from, static_cast<int>(to), false}).second)
      out_.arrows.push_back(
          {from, static_cast<int>(to), type == types_.end() ? "" : type->second, false});
  }

  int box_of(int node) const { return boxes_.at(first_of(node)); }

  void add_arrows(int node) {
    const onnx::NodeProto& proto = *nodes_[static_cast<std::size_t>(node)];
    const int to = box_of(node);
    for (const std::string& name : trace::names_read(proto)) {
      const auto maker = makers_.find(name);
      if (maker == makers_.end()) continue;
      const bool is_input = maker->second < 0;
      const int from = is_input ? -maker->second - 1 : box_of(maker->second);
      const bool to_next = !is_input && is_copy_before(maker->second, node);
      if (to_next || is_drawn(maker->second, node)) connect(from, to, name, to_next);
    }
    if (first_of(node) == node) add_bodies(proto, to);
    for (const std::string& output : proto.output())
      if (!output.empty()) makers_[output] = node;
  }

  int copy_of(int node) const { return copy_[static_cast<std::size_t>(node)]; }
  /// The node that is drawn for this one.
  int first_of(int node) const { return same_as_[static_cast<std::size_t>(node)]; }
  int block_of(int node) const { return block_of_[static_cast<std::size_t>(first_of(node))]; }

  /// True if `maker` is in another copy of the block than `node`, which is in a later copy.
  bool is_copy_before(int maker, int node) const {
    return copy_of(node) > 0 && copy_of(maker) != copy_of(node) &&
           block_of(maker) == block_of(node);
  }

  /// A later copy has the first copy's inputs, except for outputs of the copy before it.
  bool is_drawn(int maker, int node) const {
    return copy_of(node) == 0 || maker < 0 || first_of(maker) == maker ||
           copy_of(maker) == copy_of(node);
  }

  void connect(int from, int to, const std::string& value, bool to_next) {
    const auto type = types_.find(value);
    const std::string text = type == types_.end() || type->second == "?" ? "" : type->second;
    if (!seen_.insert({from, to, to_next}).second) return;
    const int near = to_next ? from : near_box(from, to, text);
    out_.arrows.push_back({near, to, text, to_next});
  }

  /// The box itself, or its copy in the reader's cluster where the value is read in many.
  int near_box(int from, int to, const std::string& type) {
    const int home = out_.boxes[static_cast<std::size_t>(from)].cluster;
    const int away = out_.boxes[static_cast<std::size_t>(to)].cluster;
    if (home == away) return from;
    auto& clusters = readers_[from];
    clusters.insert(away);
    if (clusters.size() <= most_far_readers) return from;
    const auto [found, added] =
        copies_.try_emplace({from, away}, static_cast<int>(out_.boxes.size()));
    if (added) {
      const Box original = out_.boxes[static_cast<std::size_t>(from)];
      out_.boxes.push_back({Box::Kind::shared, original.label, type, original.name, away});
    }
    return found->second;
  }

  void add_outputs() {
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const auto maker = makers_.find(output.name());
      if (maker == makers_.end()) continue;
      const int box = static_cast<int>(out_.boxes.size());
      out_.boxes.push_back(
          {Box::Kind::output, output.name(), type_text(output.type()), output.name(), 0});
      const int from = maker->second < 0 ? -maker->second - 1 : box_of(maker->second);
      out_.arrows.push_back({from, box, type_text(output.type()), false});
    }
  }

  const onnx::GraphProto& graph_;
  const FoldOptions& options_;
  std::vector<const onnx::NodeProto*> nodes_;
  std::unordered_map<std::string, std::string> types_;
  std::set<std::string> given_;                 ///< Initializers and Constants.
  std::vector<int> same_as_, copy_, block_of_;  ///< By node.
  std::map<std::pair<int, std::string>, int> modules_known_;
  std::map<int, std::size_t> modules_around_;    ///< By the cluster of a block.
  std::unordered_map<std::string, int> makers_;  ///< A node, or below 0 the box of an input.
  std::unordered_map<int, int> boxes_;
  std::set<std::tuple<int, int, bool>> seen_;
  std::unordered_map<int, std::set<int>> readers_;
  std::map<std::pair<int, int>, int> copies_;
  FoldedGraph out_;
};

}  // namespace

FoldedGraph folded_graph(const onnx::ModelProto& model, const FoldOptions& options,
                         const std::string& path) {
  onnx::ModelProto inlined = model;
  inline_functions(inlined, "inline", path);
  infer_types(inlined);
  return Folder(inlined, options).run();
}

}  // namespace symprof::workbench
