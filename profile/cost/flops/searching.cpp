// Searches: searchsorted, bucketize, isin.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule searching_rows[] = {
    {"aten::searchsorted", per_output<1>, modelled},
    {"aten::bucketize", per_output<1>, modelled},
    {"aten::isin", per_output<1>, modelled},
};

}  // namespace

Rules searching_rules() { return searching_rows; }

}  // namespace symprof::profile
