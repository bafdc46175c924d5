#include <algorithm>
#include <cmath>
#include <cstring>

#include "workbench/compare/side.h"
#include "workbench/constants.h"

namespace symprof::workbench {
namespace {

/// Every `stride`-th number. A stride of two takes the real parts of complex numbers, as numpy's
/// conversion to float64 does.
template <class T>
std::vector<double> every(const std::vector<std::byte>& bytes, std::size_t stride) {
  std::vector<double> numbers(bytes.size() / (stride * sizeof(T)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * stride * sizeof(T), sizeof value);
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

void add_range(const std::vector<double>& numbers, Row& row) {
  bool is_first = true;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    row.smallest = is_first ? number : std::min(row.smallest, number);
    row.largest = is_first ? number : std::max(row.largest, number);
    is_first = false;
  }
}

}  // namespace

std::vector<double> numbers_of(const ConstantTensor& tensor) {
  switch (tensor.spec.dtype) {
    case DType::uint64:
      return every<std::uint64_t>(tensor.data, 1);
    case DType::complex64:
      return every<float>(tensor.data, 2);
    case DType::complex128:
      return every<double>(tensor.data, 2);
    default:
      return reals_of(tensor);
  }
}

std::vector<double> parts_of(const ConstantTensor& tensor) {
  switch (tensor.spec.dtype) {
    case DType::complex64:
      return every<float>(tensor.data, 1);
    case DType::complex128:
      return every<double>(tensor.data, 1);
    default:
      return numbers_of(tensor);
  }
}

void describe(const ValueRunner::Tensors& values, Row& row) {
  std::vector<double> numbers;
  if (values.size() == 1) {
    row.dtype = std::string(name(values[0]->spec.dtype));
    row.shape.emplace(values[0]->spec.sizes.begin(), values[0]->spec.sizes.end());
    numbers = numbers_of(*values[0]);
    if (numbers.size() != static_cast<std::size_t>(values[0]->spec.numel())) return;
  } else {  // A sequence, as one list of numbers; an empty optional has none.
    row.dtype = values.empty() ? "none" : "sequence";
    row.shape = RowShape{static_cast<std::int64_t>(values.size())};
    for (const auto& tensor : values) {
      const std::vector<double> some = numbers_of(*tensor);
      numbers.insert(numbers.end(), some.begin(), some.end());
    }
  }
  row.signature = signature_of(numbers);
  row.has_values = true;
  const bool is_complex = values.size() == 1 && (values[0]->spec.dtype == DType::complex64 ||
                                                 values[0]->spec.dtype == DType::complex128);
  add_range(is_complex ? parts_of(*values[0]) : numbers, row);
}

}  // namespace symprof::workbench
