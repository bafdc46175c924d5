// A recorded call as the cost rules see it.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/recording.h"

namespace symprof::profile {

/// A call, with its arguments and outputs, as a rule reads it.
class Call {
 public:
  Call(const Recording& recording, const CallRecord& record)
      : recording_(recording), record_(record) {}

  std::string_view op() const;  ///< Without overload: "aten::addmm".
  /// The first tensor given for schema argument `position`; null when None.
  const TensorSpec* input_at(int position) const;
  /// All defined tensor arguments, in schema order.
  std::size_t input_count() const;
  const TensorSpec* input(std::size_t index) const;  ///< Null beyond the last.
  std::size_t output_count() const;
  const TensorSpec* output(std::size_t index) const;  ///< Null when undefined.
  /// Element `index` of the integer (list) or bool (list) argument at `position`, else `otherwise`.
  std::int64_t integer(int position, std::size_t index, std::int64_t otherwise) const;

  const TensorSpec* spec(const TensorRecord& tensor) const;  ///< Null when undefined.
  /// False if the tensor lies in host memory, like a wrapped Python number.
  bool lies_on_device(const TensorRecord& tensor) const;
  const Recording& recording() const { return recording_; }
  const CallRecord& record() const { return record_; }

 private:
  const Recording& recording_;
  const CallRecord& record_;
};

}  // namespace symprof::profile
