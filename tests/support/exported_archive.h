// Builds small .pt2 archives in memory, whole or broken in one place.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::test {

/// Records by name, as a zip archive without compression.
std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& records);

/// A file below the system's folder for temporary files, removed with this object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// `TensorMeta` of the schema; sizes and strides are JSON lists without brackets.
std::string tensor_meta(int dtype, const std::string& sizes, const std::string& strides,
                        const std::string& device = "cpu");

/// The parts of models/model.json that tests vary; the rest is what PyTorch 2.13 writes.
struct Program {
  std::string inputs, outputs, nodes, tensor_values, sym_int_values, input_specs, output_specs;
  std::string range_constraints;
  std::string schema = R"({"major": 8, "minor": 20})";
  std::string weights, constants;  ///< Members of `config` of the two payload records.
  std::vector<std::pair<std::string, std::string>> payloads;  ///< "data/constants/tensor_0".

  std::string json() const;
  std::string archive() const;
};

/// The graph that the reader makes of `program`, verified.
Graph load(const Program& program);

/// y = relu(x) with x float32[2, 3].
Program relu_program();

}  // namespace symprof::test
