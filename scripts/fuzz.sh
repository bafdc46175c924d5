#!/usr/bin/env bash
# Builds the fuzz targets with clang and libFuzzer and runs them, each on all of its corpus and seeds.
#
#   scripts/fuzz.sh SECONDS [archive|onnx|engine|dump|snapshot|exported|torchscript ...]
#
# What is found is written to build/fuzz/found/, and inputs that reach something new to
# build/fuzz/work/. `scripts/fuzz.sh keep` minimizes the latter into tests/fuzz/corpus/.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?usage: scripts/fuzz.sh SECONDS [TARGET ...], or scripts/fuzz.sh keep}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(archive onnx engine dump snapshot exported torchscript)
build=build/fuzz
python=${PYTHON:-python3}

command -v clang++-14 >/dev/null && [ -e /usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-x86_64.a ] || {
  echo "Debian's packages clang-14 and libclang-rt-14-dev are missing: apt-get install them." >&2
  exit 1
}
cmake --preset fuzz >/dev/null
cmake --build "$build" --target "${targets[@]/#/symprof_fuzz_}"

# Stacks of allocations cost half of the time; LibTorch keeps what it allocates at start-up.
export ASAN_OPTIONS=malloc_context_size=2:detect_leaks=0
for target in "${targets[@]}"; do
  program=$build/bin/symprof_fuzz_$target
  work=$build/work/$target corpus=tests/fuzz/corpus/$target
  mkdir -p "$work" "$build/found"
  if [ "$what" = keep ]; then
    kept=$(mktemp -d)
    "$program" -merge=1 -use_counters=0 -max_len=20000 "$kept" "$corpus" "$work" 2>&1 | tail -1
    rm -r "$corpus"
    "$python" -W ignore tests/fuzz/pack_corpus.py "$kept" "$corpus"
    rm -r "$kept"
  else
    "$program" -max_total_time="$what" -rss_limit_mb=2048 -timeout=10 -max_len=20000 -entropic=0 \
      -print_final_stats=1 -artifact_prefix="$build/found/$target-" "$work" "$corpus"
  fi
done
