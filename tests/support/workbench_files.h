// Models and answers of public tools in tests/workbench/golden/.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace symprof::test {

inline std::string workbench_file(const std::string& name) {
  return test::source_folder() + "/tests/workbench/golden/" + name;
}

inline std::string workbench_text(const std::string& name) {
  std::ifstream file(workbench_file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Names without ending of the files in a folder, those that a tool optimized ("gpt.onnxslim") only
/// where asked for.
inline std::vector<std::string> workbench_names(const std::string& folder, bool with_optimized) {
  std::vector<std::string> names;
  const std::string ending = folder == "models" ? ".onnx" : folder == "stats" ? ".json" : ".txt";
  for (const auto& entry : std::filesystem::directory_iterator(workbench_file(folder))) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(ending)) continue;
    const std::string name = file.substr(0, file.size() - ending.size());
    if (with_optimized || name.find('.') == name.npos) names.push_back(name);
  }
  return names;
}

}  // namespace symprof::test
