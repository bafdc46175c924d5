// The cost of a pair of rows whose words are interned as numbers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "workbench/compare/row.h"

namespace symprof::workbench {

/// Numbers instead of words and shapes: a band has millions of pairs, but few distinct words.
class RowCosts {
 public:
  RowCosts(std::span<const Row> a, std::span<const Row> b);

  double operator()(std::size_t a, std::size_t b) const;

 private:
  struct Code {
    RowKind kind = RowKind::result;
    std::size_t dtype = 0, op_type = 0, shape = 0;
    bool is_float = false;
    std::array<char, 4> letters{};
  };
  struct ShapeCode {
    const std::optional<RowShape>* shape = nullptr;
    bool has_names = false;
    double elements = 1;
  };

  std::vector<Code> codes_of(std::span<const Row> rows);
  std::size_t word(const std::string& text);
  std::size_t shape(const std::optional<RowShape>& shape);
  static double shape_cost(const ShapeCode& a, const ShapeCode& b);

  std::map<std::string, std::size_t> words_;
  std::map<std::optional<RowShape>, std::size_t> shape_numbers_;
  std::vector<ShapeCode> shapes_;
  std::vector<Code> a_, b_;
};

}  // namespace symprof::workbench
