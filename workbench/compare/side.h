// One of the two graphs of a comparison: its rows, and what it needs to run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "workbench/compare/row.h"
#include "workbench/model.h"
#include "workbench/verify.h"

namespace symprof::workbench {

struct Side {
  std::string path;
  Graph graph;            ///< As it is run; all functions are inlined.
  std::vector<Row> rows;  ///< In the order of RowKind, results as nodes run.
  std::vector<std::vector<std::size_t>> rows_of;  ///< By ValueId: the rows that have its values.
  /// Values of inputs and weights by name; of weights only those that the file has.
  ValueRunner::Leaves leaves;
  /// Of weights the parameter that the file's metadata say they stand for, where that has another
  /// name: the exporter folds a transposition into a weight and calls it "val_12". Known where
  /// weights lack their data, and beside another format.
  std::map<std::string, std::string> parameters;
  bool has_onnx_operators = true;
};

/// What becomes of operators that train, such as dropout.
enum class Training : std::uint8_t { as_written, off };

/// The rows of an ONNX model's main graph, a Constant's too. A call of a local function is one
/// node. Throws Error for what no Graph can hold.
Side side_of(const onnx::ModelProto& model, const std::string& path,
             Training training = Training::as_written);

/// The rows of a graph that was read from another format, prepared for a run, with the weights of
/// its file.
Side side_of(const Graph& graph, const std::string& path, const ValueRunner& runner);

/// The rows of a model that nobody runs, as make_summary of onnx-array-api has them in its mode
/// `nodes`: a row for each node beside those of its results, types as onnx infers them.
std::vector<Row> node_rows(const onnx::ModelProto& model, const std::string& path);

/// What a row says of its values, once they are there.
void describe(const ValueRunner::Tensors& values, Row& row);

/// The numbers of a tensor, of complex ones the real parts, which signatures are made of; empty
/// where its dtype has none here, and for no elements.
std::vector<double> numbers_of(const ConstantTensor& tensor);

/// What is compared: the same, of complex numbers the real and the imaginary part of each in turn.
std::vector<double> parts_of(const ConstantTensor& tensor);

}  // namespace symprof::workbench
