// The operators of the package transformers that files call.
#pragma once

namespace symprof::kernels {

/// While one lives, the operators that transformers writes into files exist: ours, or the package's
/// own, where this is a Python process that has imported it. Ours go with the last one, so that the
/// package may be imported later. On any thread.
class TransformersOperators {
 public:
  TransformersOperators();
  ~TransformersOperators();
  TransformersOperators(const TransformersOperators&) = delete;
  TransformersOperators& operator=(const TransformersOperators&) = delete;
};

}  // namespace symprof::kernels
