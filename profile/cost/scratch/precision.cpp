#include "profile/cost/scratch/precision.h"

namespace symprof::profile {

DType promoted(DType a, DType b) {
  if (is_floating_point(a) != is_floating_point(b)) return is_floating_point(a) ? a : b;
  if (a == b || element_bytes(a) > element_bytes(b)) return a;
  if (element_bytes(b) > element_bytes(a)) return b;
  if (is_half(a)) return DType::float32;
  if (a == DType::boolean) return b;
  return b == DType::boolean ? a : DType::int16;
}

}  // namespace symprof::profile
