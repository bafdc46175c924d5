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

/// How a path may begin: only with a pair of the first rows, or also with unpaired rows.
enum class EditStart { pair, any };

/// `cost` is infinite for rows that must not be paired. Memory: a byte for each cell of the band.
EditPath shortest_edit(std::size_t rows_a, std::size_t rows_b, EditStart start,
                       const std::function<double(std::size_t, std::size_t)>& cost);

}  // namespace symprof::workbench
