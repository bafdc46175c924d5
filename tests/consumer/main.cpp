// Profiles a model through the library: prints FLOPs, saved bytes and the peak.
#include <cstdio>
#include <exception>

#include "profile/profile.h"
#include "session/session.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const symprof::Profile profile = symprof::Session(argv[1]).profile(symprof::Settings{});
    std::printf("%lld FLOPs forward, %lld bytes saved, peak %lld\n",
                static_cast<long long>(profile.totals.fwd_flops),
                static_cast<long long>(profile.totals.saved_bytes),
                static_cast<long long>(profile.totals.peak_allocated_bytes));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
