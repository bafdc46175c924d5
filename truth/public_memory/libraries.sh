#!/bin/sh
# The packages of older rows, each set in a folder of its own, beside the torch that is installed: libraries.sh FOLDER [PIP]
set -e
folder=$1
pip=${2:-pip}
for set in "4.48.1 0.21.0 0.27.1 0.13.2 1.0.1" "4.45.2 0.20.3 0.27.1 0.13.2 1.0.1" "4.44.2 0.19.1 0.27.1 0.12.0 0.33.0"; do
  # shellcheck disable=SC2086 # Five words.
  set -- $set
  "$pip" install --no-deps --target "$folder/transformers-$1" "transformers==$1" "tokenizers==$2" "huggingface-hub==$3" \
    "peft==$4" "accelerate==$5" "safetensors==0.5.2"
done
"$pip" install --no-deps --target "$folder/litgpt" litgpt==0.5.13
"$pip" install --no-deps --target "$folder/torchtune" torchtune==0.5.0
