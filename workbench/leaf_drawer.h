// Random values of a model's inputs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/graph/symbol_table.h"

namespace symprof::workbench {

/// Random values of inputs: floats are normal, integers lie below a bound.
class LeafDrawer {
 public:
  /// `sizes` are those of symbolic dimensions; others get 2, 3, … in order of appearance.
  LeafDrawer(std::string path, const std::map<std::string, std::int64_t>& sizes,
             std::uint64_t seed);

  /// Deterministic for each name and seed. Throws Error for non-tensors, for a dtype without random
  /// values, and for too many elements.
  std::shared_ptr<const ConstantTensor> draw(const Value& input, std::int64_t bound);
  /// The sizes that the input would get.
  std::vector<std::int64_t> sizes_of(const Value& input);
  /// Fixes the symbolic dimensions of the input to `sizes`.
  void constrain(const Value& input, const std::vector<std::int64_t>& sizes);

 private:
  std::int64_t size_of(const Dimension& dimension, const std::string& input);

  std::string path_;
  std::uint64_t seed_ = 0;
  trace::SymbolTable sizes_;
  std::int64_t next_ = 2;
};

}  // namespace symprof::workbench
