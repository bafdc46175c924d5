// `with torch.no_grad():` and `with torch.autocast(...):` inside a graph. The front ends write such
// a region flat, between two marker nodes; trace/passes/inline_regions.h has their names.
#pragma once

#include <vector>

#include "trace/graph.h"

namespace symprof::trace {

/// The regions that are open in one run, innermost last. The destructor closes what an error left
/// open.
class Regions {
 public:
  Regions() = default;
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  /// True when `node` is a marker; then it was obeyed.
  bool obey(const Node& node);

 private:
  struct Saved {
    bool is_autocast = false;
    bool grad_enabled = true;
    bool autocast_enabled = false;
    DType autocast_dtype = DType::float16;
  };

  void open_grad_mode(const Node& node);
  void open_autocast(const Node& node);
  void close();

  std::vector<Saved> open_;
};

}  // namespace symprof::trace
