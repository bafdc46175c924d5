// The edit distance behind both alignments.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace symprof::workbench {

struct EditStep {
  std::optional<std::size_t> a, b;
  double cost = 0;
};

struct EditPath {
  std::vector<EditStep> steps;
  double distance = 0;
};

/// How a path may begin: with a pair of the first rows only, or with rows that stand alone, too.
enum class EditStart { pair, any };

/// `cost` of a pair of rows is infinite where they must not be paired. Memory: a byte for each cell
/// of the band.
EditPath shortest_edit(std::size_t rows_a, std::size_t rows_b, EditStart start,
                       const std::function<double(std::size_t, std::size_t)>& cost);

}  // namespace symprof::workbench
