// Why a Q or DQ is standalone, from the dtypes of adjacent tensors.
#include <fmt/format.h>

#include <algorithm>

#include "engine/cause_list.h"
#include "engine/layer_kinds.h"
#include "engine/names.h"

namespace symprof::engine {
namespace {

bool is_quantized(const Tensor& tensor) {
  return tensor.dtype == "int8" || tensor.dtype == "float8" || tensor.dtype == "int4" ||
         tensor.dtype == "float4";
}

bool is_floating(const Tensor& tensor) { return !tensor.dtype.empty() && !is_quantized(tensor); }

/// Convolutions and matrix products, the targets of Q and DQ.
bool is_weighted(const Layer& layer) {
  return layer.subtype.starts_with("Conv") || layer.type.find("Conv") != std::string::npos ||
         layer.type.find("Gemm") != std::string::npos || layer.type == "gemm" ||
         layer.type == "conv";
}

/// The floating-point residual input of a quantized layer with a fused Add.
const Tensor* floating_residual(const Layer& layer) {
  if (!is_weighted(layer) || layer.inputs.size() < 2 ||
      std::ranges::none_of(layer.inputs, is_quantized))
    return nullptr;
  const auto found = std::ranges::find_if(layer.inputs, is_floating);
  return found == layer.inputs.end() ? nullptr : &*found;
}

/// The Add in a layer's name, or the whole name.
std::string addition_of(const Layer& layer) {
  for (const NameTerm& term : name_terms(layer.name)) {
    const std::size_t slash = term.text.rfind('/');
    const std::string_view last =
        std::string_view(term.text).substr(slash == std::string::npos ? 0 : slash + 1);
    if (last.starts_with("Add") || last.starts_with("add") || last.starts_with("node_add"))
      return term.text;
  }
  return layer.name;
}

/// Operators that only move data.
bool is_move(const Layer& layer) {
  return layer.type == "Shuffle" || layer.type == "Slice" || layer.type == "Padding" ||
         layer.type == "NoOp";
}

/// True for an engine input, whose dtype was requested, also after data movement.
bool is_engine_input(const Engine& engine, const LayerGraph& graph, const std::string& tensor) {
  const int maker = graph.producer(tensor);
  if (maker < 0) return true;
  const Layer& layer = engine.layers[static_cast<std::size_t>(maker)];
  return is_move(layer) && std::ranges::all_of(layer.inputs, [&](const Tensor& input) {
           return graph.producer(input.name) < 0;
         });
}

class QuantizerCauses {
 public:
  QuantizerCauses(const Engine& engine, const LayerGraph& graph, CauseList& causes)
      : engine_(engine), graph_(graph), causes_(causes) {}

  void add(int index) {
    const Layer& layer = at(index);
    if (layer.inputs.empty() || layer.outputs.empty()) return;
    if (is_quantized(layer.inputs.front()))
      add_dequantizer(index);
    else
      add_quantizer(index);
  }

 private:
  const Layer& at(int index) const { return engine_.layers[static_cast<std::size_t>(index)]; }

  /// True if a quantized layer or one with weights is reached from `index` in one direction, over
  /// operators without weights. Otherwise `index` is at an input or output of the engine, where a
  /// floating-point dtype was requested.
  template <class Neighbors>
  bool reaches_quantized(int index, Neighbors neighbors) const {
    std::vector<int> open{index};
    std::vector<bool> is_seen(engine_.layers.size());
    while (!open.empty()) {
      const int last = open.back();
      open.pop_back();
      for (const int next : neighbors(last)) {
        if (is_seen[static_cast<std::size_t>(next)]) continue;
        is_seen[static_cast<std::size_t>(next)] = true;
        if (is_weighted(at(next)) || is_lone_quantizer(at(next)) ||
            std::ranges::any_of(at(next).outputs, is_quantized))
          return true;
        open.push_back(next);
      }
    }
    return false;
  }

  bool is_behind_quantized(int index) const {
    return reaches_quantized(index, [this](int layer) {
      std::vector<int> makers;
      for (const Tensor& input : at(layer).inputs)
        if (const int maker = graph_.producer(input.name); maker >= 0) makers.push_back(maker);
      return makers;
    });
  }

  bool is_before_quantized(int index) const {
    return reaches_quantized(index, [this](int layer) {
      std::vector<int> found;
      for (const Tensor& output : at(layer).outputs) {
        const std::vector<int> readers = graph_.readers(output.name);
        found.insert(found.end(), readers.begin(), readers.end());
      }
      return found;
    });
  }

  void add_residual(const Layer& taker, const Tensor& residual, int quantizer) {
    causes_.add(Cause::residual, addition_of(taker), quantizer,
                fmt::format("the residual input of {} ({}) is {} and not quantized",
                            addition_of(taker), residual.name, residual.dtype),
                "Put Q and DQ on the residual input of the Add.");
  }

  void add_operator(int op, int quantizer) {
    causes_.add(Cause::unquantized_op, at(op).name, quantizer,
                fmt::format("{} runs in {} between quantized layers", at(op).name,
                            at(op).inputs.empty() ? std::string("a floating type")
                                                  : at(op).inputs.front().dtype),
                "Put Q and DQ on its input as well as on its output.");
  }

  void add_unknown(int index) {
    causes_.add(Cause::unknown, at(index).name, index,
                fmt::format("{} runs alone, and nothing in the engine tells why", at(index).name),
                "");
  }

  void add_quantizer(int index) {
    const Tensor& input = at(index).inputs.front();
    const int maker = graph_.producer(input.name);
    if (maker < 0) return;  // An engine input must be quantized somewhere.
    if (const Tensor* residual = floating_residual(at(maker)))
      return add_residual(at(maker), *residual, index);
    for (const int reader : graph_.readers(input.name)) {
      const Tensor* residual = floating_residual(at(reader));
      if (residual && graph_.producer(residual->name) == maker)
        return add_residual(at(reader), *residual, index);
    }
    if (!is_weighted(at(maker))) {
      // So must an input that is first padded or reshaped.
      if (is_behind_quantized(maker)) add_operator(maker, index);
      return;
    }
    if (std::ranges::none_of(at(maker).inputs, is_quantized)) {
      causes_.add(Cause::unquantized_input, at(maker).name, index,
                  fmt::format("the input of {} is not quantized", at(maker).name),
                  "Put Q and DQ on every input of a convolution or a product.");
      return;
    }
    add_other_reader(maker, index);
  }

  /// The convolution could write the Q's output if its result had no other consumer.
  void add_other_reader(int maker, int index) {
    for (const int reader : graph_.readers(at(index).inputs.front().name))
      if (reader != index && !is_lone_quantizer(at(reader))) {
        causes_.add(Cause::second_reader, at(maker).name, index,
                    fmt::format("{} reads the result of {} before it is quantized", at(reader).name,
                                at(maker).name),
                    "Let it read the result behind the Q and DQ.");
        return;
      }
    add_unknown(index);
  }

  void add_dequantizer(int index) {
    bool is_before_output = graph_.readers(at(index).outputs.front().name).empty();
    for (const int reader : graph_.readers(at(index).outputs.front().name)) {
      if (!is_weighted(at(reader))) {
        if (is_before_quantized(reader)) return add_operator(reader, index);
        is_before_output = true;
        continue;
      }
      // A layer with a floating-point output also takes no quantized residual: caused by the
      // consumer that reads it in floating point.
      for (const Tensor& output : at(reader).outputs)
        if (is_floating(output))
          for (const int behind : graph_.readers(output.name))
            if (!is_weighted(at(behind)) && !is_lone_quantizer(at(behind)))
              return add_operator(behind, index);
    }
    // An engine output must be dequantized somewhere.
    if (!is_before_output) add_unknown(index);
  }

  const Engine& engine_;
  const LayerGraph& graph_;
  CauseList& causes_;
};

}  // namespace

void add_quantizer_causes(const Engine& engine, const EngineSummary& summary,
                          const LayerGraph& graph, const std::vector<bool>& explained,
                          CauseList& causes) {
  QuantizerCauses finder(engine, graph, causes);
  for (std::size_t i = 0; i < engine.layers.size(); ++i)
    if (summary.layers[i].is_quantizer && !explained[i]) finder.add(static_cast<int>(i));
}

void add_cast_causes(const Engine& engine, const EngineSummary& summary, const LayerGraph& graph,
                     CauseList& causes) {
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    const Layer& layer = engine.layers[i];
    if (!summary.layers[i].is_reformat || !summary.layers[i].has_kernel ||
        layer.inputs.size() != 1 || layer.outputs.size() != 1 ||
        layer.inputs[0].dtype == layer.outputs[0].dtype)
      continue;
    const std::vector<int> readers = graph.readers(layer.outputs[0].name);
    // An engine output has the requested dtype.
    if (is_engine_input(engine, graph, layer.inputs[0].name) || readers.empty()) continue;
    const auto maker = static_cast<std::size_t>(graph.producer(layer.inputs[0].name));
    const std::string& before = engine.layers[maker].name;
    const std::string& behind = engine.layers[static_cast<std::size_t>(readers.front())].name;
    causes.add(Cause::precision, layer.name, static_cast<int>(i),
               fmt::format("{} gives {}, and {} takes {}", before, layer.inputs[0].dtype, behind,
                           layer.outputs[0].dtype),
               "Let both run in one type.");
  }
}

}  // namespace symprof::engine
