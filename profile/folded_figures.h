// Figures of folded rows: only tensors that cross a row's border count.
#pragma once

#include <vector>

#include "profile/folded_row.h"

namespace symprof::profile {

/// Fills the figures of `rows`, whose nodes are set; every node is in exactly one row. A row of one
/// node has that node's figures.
void fill_figures(const Profile& profile, std::vector<FoldedRow>& rows);

}  // namespace symprof::profile
