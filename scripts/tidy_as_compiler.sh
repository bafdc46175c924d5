#!/usr/bin/env bash
# A compiler whose errors are clang-tidy's remarks (scripts/lint.sh). So ninja and ccache know which files need no second
# look: those whose text, headers, options and clang-tidy are what they were. Its objects only say that nothing was found.
set -euo pipefail

object='' source='' compiles=0
preprocess=("$@")
for ((i = 0; i < $#; i++)); do
  case ${preprocess[i]} in
    -c) compiles=1 preprocess[i]=-E ;;
    -o) object=${preprocess[i + 1]} preprocess[i + 1]=/dev/null ;;
    *.cpp | *.cxx) source=${preprocess[i]} ;;
  esac
done
[ $compiles = 1 ] || exec c++ "$@"  # What ccache compares: the text behind the preprocessor.

c++ "${preprocess[@]}"  # Writes the list of headers that ninja asks for.
# Files that are compiled together are included by one.
remarks=$(clang-tidy --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include "$source" -- "$@" 2>/dev/null) || { echo "$remarks" >&2; exit 1; }
echo "nothing found" >"$object"
