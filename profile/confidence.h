// Which of two figures can be trusted less.
#pragma once

#include "profile/profile.h"

namespace symprof::profile {

/// 0 is the least certain: unmodelled, modelled, exact, free.
constexpr int certainty(Confidence confidence) {
  switch (confidence) {
    case Confidence::unmodelled:
      return 0;
    case Confidence::modelled:
      return 1;
    case Confidence::exact:
      return 2;
    case Confidence::free:
      return 3;
  }
  return 0;
}

constexpr Confidence least_certain(Confidence a, Confidence b) {
  return certainty(a) < certainty(b) ? a : b;
}

}  // namespace symprof::profile
