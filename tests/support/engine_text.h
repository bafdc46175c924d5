// Engines for tests: layers as trtexec writes them, and the samples that other tools wrote.
#pragma once

#include <string>

#include "tests/support/source_folder.h"

namespace symprof::test {

inline const std::string engine_samples = test::source_folder() + "/tests/engine/samples/";

/// A tensor of the sizes 1, 8, 4, 4.
inline std::string tensor_text(const std::string& name, const std::string& type) {
  return R"({"Name": ")" + name + R"(", "Dimensions": [1,8,4,4], "Format/Datatype": ")" + type +
         R"("})";
}

/// `inputs` and `outputs` are tensors with commas between them, `more` other fields with one
/// before.
inline std::string layer_text(const std::string& name, const std::string& type,
                              const std::string& inputs, const std::string& outputs,
                              const std::string& more = "") {
  return R"({"Name": ")" + name + R"(", "LayerType": ")" + type + R"(", "Inputs": [)" + inputs +
         R"(], "Outputs": [)" + outputs + "]" + more + "}";
}

}  // namespace symprof::test
