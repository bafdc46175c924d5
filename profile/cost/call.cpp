#include "profile/cost/call.h"

namespace symprof::profile {

std::string_view Call::op() const { return recording_.ops[record_.op]; }

const TensorSpec* Call::spec(const TensorRecord& tensor) const {
  return tensor.spec == none ? nullptr : &recording_.specs[tensor.spec];
}

bool Call::lies_on_device(const TensorRecord& tensor) const {
  return tensor.storage == none || recording_.storages[tensor.storage].on_device;
}

const TensorSpec* Call::input_at(int position) const {
  for (std::size_t i = 0; i < record_.inputs.size(); ++i)
    if (record_.input_positions[i] == position)
      if (const TensorSpec* found = spec(record_.inputs[i])) return found;
  return nullptr;
}

std::size_t Call::input_count() const {
  std::size_t count = 0;
  for (const TensorRecord& tensor : record_.inputs) count += tensor.spec != none;
  return count;
}

const TensorSpec* Call::input(std::size_t index) const {
  for (const TensorRecord& tensor : record_.inputs)
    if (tensor.spec != none && index-- == 0) return &recording_.specs[tensor.spec];
  return nullptr;
}

std::size_t Call::output_count() const { return record_.outputs.size(); }

const TensorSpec* Call::output(std::size_t index) const {
  return index < record_.outputs.size() ? spec(record_.outputs[index]) : nullptr;
}

std::int64_t Call::integer(int position, std::size_t index, std::int64_t otherwise) const {
  for (const IntegerArgument& argument : record_.integers)
    if (argument.position == position && index-- == 0) return argument.value;
  return otherwise;
}

}  // namespace symprof::profile
