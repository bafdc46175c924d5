#include "workbench/dump/replay.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "workbench/dump/calls.h"

namespace symprof::workbench {
namespace {

namespace dump = trace::dump;

constexpr double tolerance_of_reals = 1e-4, tolerance_of_halves = 1e-2;

/// A tensor of an entry, with its possible names in a graph.
struct DumpedTensor {
  std::string path, name, label;
  std::shared_ptr<const ConstantTensor> tensor;
};

std::vector<DumpedTensor> tensors_of(const dump::Value& value) {
  std::vector<DumpedTensor> tensors;
  dump::for_each_leaf(value, [&](const std::string& path, const dump::Value& leaf) {
    const bool is_tensor = leaf.kind == dump::Kind::tensor || leaf.kind == dump::Kind::array;
    const bool has_data =
        leaf.tensor && (!leaf.tensor->data.empty() || leaf.tensor->spec.numel() == 0);
    if (is_tensor && has_data)
      tensors.push_back({path, path.substr(path.rfind('.') + 1), leaf.label, leaf.tensor});
  });
  return tensors;
}

/// `has_dtypes`: as GraphTraits::records_dtypes; a size computed by the graph has no dtype.
bool fits(const symprof::Value& value, const TensorSpec& spec, bool has_dtypes) {
  if (!value.spec && has_dtypes) return value.recorded_dtype == spec.dtype;
  if (!value.spec) return true;
  if (value.spec->dtype != spec.dtype) return false;
  if (value.spec->sizes.size() != spec.sizes.size()) return false;
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    const bool is_open = i < value.dimensions.size() && !value.dimensions[i].symbol.empty();
    if (!is_open && value.spec->sizes[i] >= 0 && value.spec->sizes[i] != spec.sizes[i])
      return false;
  }
  return true;
}

/// By wanted value: the index of its tensor, or none. Matches by name, then in order by type.
std::vector<std::optional<std::size_t>> match(const Graph& graph,
                                              const std::vector<ValueId>& wanted,
                                              const std::vector<DumpedTensor>& tensors) {
  std::vector<std::optional<std::size_t>> matched(wanted.size());
  std::vector<bool> is_taken(tensors.size());
  const auto take = [&](std::size_t at, const auto& accepts) {
    for (std::size_t i = 0; i < tensors.size() && !matched[at]; ++i) {
      if (is_taken[i] || !accepts(tensors[i])) continue;
      matched[at] = i;
      is_taken[i] = true;
    }
  };
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (wanted[at] < 0) continue;
    const symprof::Value& value = graph.value(wanted[at]);
    take(at, [&](const DumpedTensor& tensor) {
      return tensor.label == value.name || tensor.name == value.name;
    });
  }
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (wanted[at] < 0 || matched[at]) continue;
    const symprof::Value& value = graph.value(wanted[at]);
    take(at, [&](const DumpedTensor& tensor) {
      return fits(value, tensor.tensor->spec, graph.traits.records_dtypes);
    });
  }
  return matched;
}

bool is_half(const std::vector<DumpedTensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const DumpedTensor& tensor) {
    const DType dtype = tensor.tensor->spec.dtype;
    return is_floating_point(dtype) && element_bits(dtype) <= 16;
  });
}

/// "decoder.norm_1-LayerNorm-227" without the suffix after the path.
std::string without_class(const std::string& name) {
  const auto line = name.rfind('-');
  if (line == name.npos || line + 1 == name.size()) return name;
  if (!std::all_of(name.begin() + static_cast<std::ptrdiff_t>(line) + 1, name.end(), is_digit))
    return name;
  const auto type = line == 0 ? name.npos : name.rfind('-', line - 1);
  return type == name.npos ? name : name.substr(0, type);
}

std::string without_first(const std::string& name) {
  const auto dot = name.find('.');
  return dot == name.npos ? "" : name.substr(dot + 1);
}

class Replayer {
 public:
  Replayer(const dump::Dump& dump, const Runnable& start, const ValueRunner& runner,
           const ReplayOptions& options)
      : dump_(dump), start_(start), runner_(runner), options_(options) {
    for (Call& call : all_calls(start.graph)) calls_[call.name].push_back(std::move(call));
    std::set<std::string> names;
    for (const dump::Entry& entry : dump.entries)
      if (entry.side != dump::Side::other) names.insert(entry.name);
    is_one_module_ = names.size() == 1;
  }

  std::vector<ReplayedCall> run() const {
    std::vector<ReplayedCall> replayed;
    for (const dump::Entry& entry : dump_.entries) {
      if (entry.side != dump::Side::output) continue;
      if (fnmatch(options_.names.c_str(), entry.name.c_str(), 0) != 0) continue;
      ReplayedCall call{.name = entry.name, .iteration = entry.iteration};
      try {
        replay_call(entry, call);
      } catch (const Error& error) {
        call.not_run = error.summary();
      }
      replayed.push_back(std::move(call));
    }
    return replayed;
  }

 private:
  void replay_call(const dump::Entry& answered, ReplayedCall& out) const {
    const std::vector<Call>* calls = part_of_name(answered.name);
    const dump::Entry* given = find(answered.name, answered.iteration);
    if (calls == nullptr) return void(out.not_run = "the model has no module or node of that name");
    if (given == nullptr) return void(out.not_run = "the dump does not have its inputs");
    const auto count = static_cast<std::int64_t>(calls->size());
    const Call& call = (*calls)[static_cast<std::size_t>(answered.iteration % count)];
    out.part = call.name.empty()
                   ? "the whole model"
                   : fmt::format("{} {}", call.is_node ? "node" : "module", call.name);
    std::vector<ValueId> bound;
    ValueRunner::Leaves leaves = start_.leaves;
    bind(call.inputs, tensors_of(given->value), leaves, bound);
    bind_whole(answered.iteration / count, leaves, bound);
    const Graph part = part_of(start_.graph, bound, call.outputs);
    for (const ValueId id : part.inputs)
      if (!leaves.contains(part.value(id).name))
        return void(out.not_run = fmt::format("the dump has nothing for the input '{}'",
                                              part.value(id).name));
    compare(call, runner_.run(part, leaves), tensors_of(answered.value), out);
  }

  /// Binds values of the graph to their dumped tensors; `bound` gets the values bound now.
  void bind(const std::vector<ValueId>& inputs, const std::vector<DumpedTensor>& tensors,
            ValueRunner::Leaves& leaves, std::vector<ValueId>& bound) const {
    const auto matched = match(start_.graph, inputs, tensors);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!matched[i]) continue;
      leaves[start_.graph.value(inputs[i]).name] = tensors[*matched[i]].tensor;
      bound.push_back(inputs[i]);
    }
  }

  /// The same for the graph's own inputs, if the dump contains the call of the whole model.
  void bind_whole(std::int64_t run, ValueRunner::Leaves& leaves,
                  std::vector<ValueId>& bound) const {
    const auto whole = calls_.find("");
    if (whole == calls_.end()) return;
    for (const dump::Entry& entry : dump_.entries) {
      if (entry.side != dump::Side::input || entry.iteration != run) continue;
      if (part_of_name(entry.name) != &whole->second) continue;
      std::vector<ValueId> open = whole->second[0].inputs;
      std::erase_if(open, [&](ValueId id) {
        return std::find(bound.begin(), bound.end(), id) != bound.end();
      });
      return bind(open, tensors_of(entry.value), leaves, bound);
    }
  }

  const std::vector<Call>* part_of_name(const std::string& dumped) const {
    const std::string name(trimmed(dumped));
    const std::string path = without_class(name);
    for (const std::string& candidate : {name, path, without_first(name), without_first(path)})
      if (const auto found = calls_.find(candidate); !candidate.empty() && found != calls_.end())
        return &found->second;
    const bool is_whole = path.find('.') == path.npos || is_one_module_;
    const auto whole = calls_.find("");
    return is_whole && whole != calls_.end() ? &whole->second : nullptr;
  }

  const dump::Entry* find(const std::string& name, std::int64_t iteration) const {
    for (const dump::Entry& entry : dump_.entries)
      if (entry.side == dump::Side::input && entry.name == name && entry.iteration == iteration)
        return &entry;
    return nullptr;
  }

  void compare(const Call& call, const std::vector<ValueRunner::Tensors>& results,
               const std::vector<DumpedTensor>& wanted, ReplayedCall& out) const {
    out.tolerance =
        options_.tolerance.value_or(is_half(wanted) ? tolerance_of_halves : tolerance_of_reals);
    if (wanted.empty()) return void(out.not_run = "the dump has no tensor that it answered");
    Graph answers;  // Its values have the specs of the results.
    std::vector<ValueId> ids;
    ValueRunner::Tensors tensors;
    for (std::size_t i = 0; i < results.size(); ++i)
      for (const auto& tensor : results[i]) {
        ids.push_back(answers.add_value(
            {.name = start_.graph.value(call.outputs[i]).name, .spec = tensor->spec}));
        tensors.push_back(tensor);
      }
    const auto matched = match(answers, ids, wanted);
    for (std::size_t at = 0; at < wanted.size(); ++at) {
      const auto found = std::find(matched.begin(), matched.end(), std::optional(at));
      ValueRunner::Tensors got;
      if (found != matched.end())
        got.push_back(tensors[static_cast<std::size_t>(found - matched.begin())]);
      else if (tensors.size() == wanted.size())
        got.push_back(tensors[at]);
      out.outputs.push_back(
          output_difference(wanted[at].label.empty() ? wanted[at].path : wanted[at].label,
                            {wanted[at].tensor}, got, out.tolerance));
      if (got.empty()) out.outputs.back().other = "the model answers nothing of that type";
    }
  }

  const dump::Dump& dump_;
  const Runnable& start_;
  const ValueRunner& runner_;
  const ReplayOptions& options_;
  std::map<std::string, std::vector<Call>> calls_;
  bool is_one_module_ = false;
};

}  // namespace

bool ReplayedCall::is_within() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const OutputDifference& output) { return output.is_within; });
}

std::vector<ReplayedCall> replay(const dump::Dump& dump, const Runnable& start,
                                 const ValueRunner& runner, const ReplayOptions& options) {
  return Replayer(dump, start, runner, options).run();
}

}  // namespace symprof::workbench
