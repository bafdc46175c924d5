#include "report/names.h"

namespace symprof::report {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::loss:
      return "loss";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
  }
  return "?";
}

std::string_view name(Confidence confidence) {
  switch (confidence) {
    case Confidence::exact:
      return "exact";
    case Confidence::modelled:
      return "modelled";
    case Confidence::free:
      return "free";
    case Confidence::unmodelled:
      return "unmodelled";
  }
  return "?";
}

}  // namespace symprof::report
