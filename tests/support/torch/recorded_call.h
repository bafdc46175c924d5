// An ATen call and PyTorch's answer (truth/operator_samples/README.md), repeated on fake tensors.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace symprof::test {

/// What PyTorch answered: outputs, an error, or that the sizes depend on data.
enum class Answer { outputs, error, unknown };

struct RecordedCall {
  std::string op;  ///< "aten::add.Tensor"
  nlohmann::json arguments;
  Answer answer = Answer::outputs;
  nlohmann::json outputs;
};

RecordedCall parse_call(const std::string& line);

/// Where fake tensors answer otherwise than PyTorch; nothing when they agree. Needs a FakeMode.
std::optional<std::string> complaint(const RecordedCall& call);

}  // namespace symprof::test
