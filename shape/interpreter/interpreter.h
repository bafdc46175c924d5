// Runs a graph on given tensors: fake, CPU or CUDA.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "shape/interpreter/dtype_origins.h"
#include "shape/interpreter/recompute.h"
#include "trace/graph/graph.h"
#include "trace/passes/host_values.h"
#include "trace/python/lifetimes/known_lifetimes.h"

namespace symprof::shape {

/// Told of each node before and after it runs. While `end_node` runs, the node's inputs and outputs
/// are still there; values at their last use die right after it.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  virtual void begin_node(std::size_t index) = 0;
  virtual void end_node(std::size_t index) = 0;
};

/// One run of one graph. Results have the lifetimes of trace/python/lifetimes/lifetimes.h; inputs,
/// parameters, buffers, constants and outputs stay alive.
class Interpreter {
 public:
  /// `device` replaces every device in the graph: a file names the device it was exported on.
  /// `graph` has to outlive the interpreter.
  Interpreter(const Graph& graph, c10::Device device, Recompute recompute = {},
              Lifetimes lifetimes = Lifetimes::last_use);
  /// With lifetimes that are known already.
  Interpreter(const Graph& graph, c10::Device device, Recompute recompute, Lifetimes lifetimes,
              std::shared_ptr<const trace::KnownLifetimes> known);

  void set(ValueId id, c10::IValue value);
  /// None if the value is not set or has died.
  const c10::IValue& get(ValueId id) const { return values_.at(static_cast<std::size_t>(id)); }

  /// Nodes in `host` create their tensors on the host.
  void compute_on_host(trace::HostValues host) { host_ = std::move(host); }

  /// Runs all nodes, then writes mutations back. Throws Error with the node's name and operator.
  void run(NodeObserver& observer);

  /// Releases the results of nodes, including the outputs.
  void clear_results();

  /// Names of views whose input was copied before them (viewable.h).
  const std::set<std::string>& copied_for_views() const { return copied_for_views_; }

  const Graph& graph() const { return graph_; }
  c10::Device device() const { return device_; }

 private:
  void run_node(std::size_t index);
  DTypeConflict dtype_refusal(std::string where, const std::string& problem,
                              const Node& node) const;
  void run_aten(const Node& node, c10::Device device);
  void run_lowered(const Node& node);
  void bind_outputs(const Node& node, std::vector<c10::IValue> results);
  void drop_dead_values(std::size_t index);

  const Graph& graph_;
  c10::Device device_;
  Recompute recompute_;
  Lifetimes lifetimes_;
  trace::HostValues host_;
  std::vector<c10::IValue> values_;
  ValueDTypes dtypes_;
  std::set<std::string> copied_for_views_;
  std::shared_ptr<const trace::KnownLifetimes> known_;
};

}  // namespace symprof::shape
