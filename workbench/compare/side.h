// One of the two models of a comparison: its rows, and how to run it.
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
  Graph graph;            ///< As executed; all functions are inlined.
  std::vector<Row> rows;  ///< In the order of RowKind, results in execution order.
  std::vector<std::vector<std::size_t>> rows_of;  ///< By ValueId: the rows that show its values.
  /// Values of inputs and weights by name; only of weights that the file contains.
  ValueRunner::Leaves leaves;
  /// By weight: the parameter that it stands for by the file's metadata, where that has another
  /// name: the exporter folds a transposition into a weight and calls it "val_12". Set where
  /// weights lack their data, and beside another format.
  std::map<std::string, std::string> parameters;
  bool has_onnx_operators = true;
};

/// How to treat operators of training, such as dropout.
enum class Training : std::uint8_t { as_written, off };

/// The rows of an ONNX model's main graph, Constants included. A call of a local function is one
/// node. Throws Error for what Graph does not support.
Side side_of(const onnx::ModelProto& model, const std::string& path,
             Training training = Training::as_written);

/// The rows of a graph in another format, prepared for a run, with the weights of its file.
Side side_of(const Graph& graph, const std::string& path, const ValueRunner& runner);

/// The rows of a model that is not run, as make_summary of onnx-array-api has them in its mode
/// `nodes`: a row for each node in addition to those of its results, with the types that onnx
/// infers.
std::vector<Row> node_rows(const onnx::ModelProto& model, const std::string& path);

/// Fills the description of a row from its values.
void describe(const ValueRunner::Tensors& values, Row& row);

/// The numbers of a tensor from which signatures are made, the real parts of complex ones; empty
/// for other dtypes and for no elements.
std::vector<double> numbers_of(const ConstantTensor& tensor);

/// The numbers to compare: as above, but with the real and the imaginary part of each complex
/// number in turn.
std::vector<double> parts_of(const ConstantTensor& tensor);

}  // namespace symprof::workbench
