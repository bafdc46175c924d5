// The costs of a graph's nodes for a listing, a drawing and a page.
#pragma once

#include <vector>

#include "profile/profile.h"
#include "report/onnx/dot.h"
#include "report/onnx/listing.h"
#include "report/onnx/page.h"
#include "report/profile/columns.h"

namespace symprof::report {

/// Functions that are calls in the file are sums.
CostColumns listed_costs(const Profile& profile, const std::vector<Column>& columns);
/// Figure columns only, here and below.
NodeCosts drawn_costs(const Profile& profile, Column column);
PageCosts page_costs(const Profile& profile, const std::vector<Column>& columns);

}  // namespace symprof::report
