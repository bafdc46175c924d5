// Runs a random trace, or one from a file, on PyTorch's own caching allocator and prints what it
// did. `real_allocator MODE` prints the lines of random.csv; `real_allocator MODE TRACE` those of a
// recorded step. The environment says the settings: run.py sets it.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/PeerToPeerAccess.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_map>

#include "modes.h"
#include "random_trace.h"

namespace {

using namespace c10::cuda::CUDACachingAllocator;
using namespace symprof::test;

std::int64_t request(std::int64_t bytes) {
  try {
    return reinterpret_cast<std::int64_t>(raw_alloc(static_cast<std::size_t>(bytes)));
  } catch (const c10::OutOfMemoryError&) {
    return 0;
  }
}

struct Figures {
  std::int64_t allocated, reserved, allocated_peak, reserved_peak, requested, inactive_split,
      retries;
};

Figures figures() {
  const auto stats = getDeviceStats(0);
  return {stats.allocated_bytes[0].current, stats.reserved_bytes[0].current,
          stats.allocated_bytes[0].peak,    stats.reserved_bytes[0].peak,
          stats.requested_bytes[0].current, stats.inactive_split_bytes[0].current,
          stats.num_alloc_retries};
}

void add(Fingerprint& fingerprint, const Figures& f) {
  for (const std::int64_t value : {f.allocated, f.reserved, f.allocated_peak, f.reserved_peak,
                                   f.requested, f.inactive_split, f.retries})
    fingerprint.add(value);
}

void print(const std::string& name, std::int64_t step, const Fingerprint& fingerprint) {
  const Figures f = figures();
  std::printf("%s,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%lu\n", name.c_str(), step, f.allocated,
              f.reserved, f.allocated_peak, f.reserved_peak, f.requested, f.inactive_split,
              f.retries, fingerprint.value());
}

void run_random(const AllocatorMode& mode) {
  RandomTrace trace(mode.seed, most_live_blocks, mode.empties_cache);
  Fingerprint fingerprint;
  for (std::int64_t step = 1; step <= trace_steps; ++step) {
    const TraceStep next = trace.next();
    if (next.kind == TraceStep::Kind::empty_cache) {
      emptyCache();
    } else if (next.kind == TraceStep::Kind::free) {
      raw_delete(reinterpret_cast<void*>(next.address));
    } else {
      const std::int64_t address = request(next.bytes);
      fingerprint.add(address);
      if (address != 0) trace.add(address);
    }
    add(fingerprint, figures());
    if (step % steps_between_lines == 0) print(std::string(mode.name), step, fingerprint);
  }
}

/// Lines "a ID BYTES" and "f ID".
void run_file(const AllocatorMode& mode, const std::string& path) {
  std::ifstream file(path);
  std::unordered_map<std::int64_t, std::int64_t> addresses;
  Fingerprint fingerprint;
  std::int64_t steps = 0, id = 0, bytes = 0;
  for (char kind = 0; file >> kind >> id; ++steps) {
    if (kind == 'a') {
      file >> bytes;
      addresses[id] = request(bytes);
      fingerprint.add(addresses[id]);
    } else if (addresses[id] != 0) {
      raw_delete(reinterpret_cast<void*>(addresses[id]));
    }
    add(fingerprint, figures());
  }
  print(std::string(mode.name), steps, fingerprint);
}

}  // namespace

int main(int argc, char** argv) {
  for (const AllocatorMode& mode : allocator_modes) {
    if (argc < 2 || mode.name != argv[1]) continue;
    init(1);
    c10::cuda::detail::init_p2p_access_cache(1);
    argc > 2 ? run_file(mode, argv[2]) : run_random(mode);
    return 0;
  }
  std::fprintf(stderr, "usage: real_allocator MODE [TRACE]\n");
  return 2;
}
