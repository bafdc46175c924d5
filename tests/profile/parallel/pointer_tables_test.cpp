#include "profile/parallel/pointer_tables.h"

#include <doctest/doctest.h>

#include <vector>

namespace symprof::profile {
namespace {

constexpr std::int64_t width = 2048, hidden = 5632, rows_of_vocabulary = 6283;  // Of 8 ranks.

/// A decoder's layer in truth/parallel: two norms, four and three matrices; bytes of a rank's part.
std::vector<std::int64_t> layer(std::int64_t bytes_of_number) {
  const std::int64_t norm = width / 8 * bytes_of_number, square = norm * width,
                     wide = norm * hidden;
  return {norm, norm, square, square, square, square, wide, wide, wide};
}

std::vector<std::int64_t> root(std::int64_t bytes_of_number) {
  const std::int64_t table = rows_of_vocabulary * width * bytes_of_number;
  return {table, width / 8 * bytes_of_number, table};
}

}  // namespace

TEST_SUITE("profile.parallel") {
  // The allocator's history of PyTorch's CUDA build, truth/parallel/ranks_truth.py --events.
  TEST_CASE("pointer tables have the sizes of PyTorch's requests") {
    const DeviceSpec device{.compute_major = 9, .compute_minor = 0, .multiprocessors = 132};
    CHECK(copy_out_table_bytes(layer(4), 8, device) == 20408);
    CHECK(copy_out_table_bytes(root(4), 8, device) == 33632);
    CHECK(copy_out_table_bytes(layer(2), 8, device) == 17064);
    CHECK(copy_out_table_bytes(root(2), 8, device) == 28848);
    CHECK(copy_in_table_bytes(layer(4)) == 100816);
    CHECK(copy_in_table_bytes(root(4)) == 402280);
  }

  TEST_CASE("a small copy has a block per piece") {
    const DeviceSpec device{.compute_major = 9, .compute_minor = 0, .multiprocessors = 132};
    const std::vector<std::int64_t> pieces{512, 2048};
    CHECK(copy_out_table_bytes(pieces, 2, device) == 8 * (3 * 2 + 2 + 3));
    CHECK(copy_in_table_bytes(pieces) == 8 * (2 + 2 + 2 * 3 + 3 * 2));
  }
}

}  // namespace symprof::profile
