// Figures of folded rows: only tensors that cross a row's border count.
#pragma once

#include <vector>

#include "profile/folded_row.h"

namespace symprof::profile {

/// `rows` have their nodes; every node is in exactly one of them. A row of one node gets that
/// node's figures.
void fill_figures(const Profile& profile, std::vector<FoldedRow>& rows);

}  // namespace symprof::profile
