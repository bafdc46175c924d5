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

/// Random values of inputs: floats are normal, whole numbers lie below a bound.
class LeafDrawer {
 public:
  /// `sizes` are those of symbolic dimensions; others are 2, 3, … in the order in which they come.
  LeafDrawer(std::string path, const std::map<std::string, std::int64_t>& sizes,
             std::uint64_t seed);

  /// The same values for the same name and seed. Throws Error for what is no tensor, for a dtype
  /// without random values, and for too many numbers.
  std::shared_ptr<const ConstantTensor> draw(const Value& input, std::int64_t bound);
  /// The sizes that it would have.
  std::vector<std::int64_t> sizes_of(const Value& input);
  /// Makes the input's sizes known, where its dimensions are symbols.
  void constrain(const Value& input, const std::vector<std::int64_t>& sizes);

 private:
  std::int64_t size_of(const Dimension& dimension, const std::string& input);

  std::string path_;
  std::uint64_t seed_ = 0;
  trace::SymbolTable sizes_;
  std::int64_t next_ = 2;
};

}  // namespace symprof::workbench
