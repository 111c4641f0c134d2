#!/usr/bin/env bash
# Runs whole models on their data: tests/zoo/run.sh [--all] [--threads N] [FOLDER [NAME...]]. FOLDER holds one folder a model, in the layout of ONNX's backend tests.
# Without one, folder.sh says which: real models where there are some, else networks with random weights. --all takes every model, not the usual choice.
# Without --threads every other model is built for two threads, the others for one; every fourth with -O3 as users have it, the others with -O1, or with -O0 where the file is so small
# that a run takes less than to compile it. Neighbours in the list of real models are of one kind.
set -uo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/tools/env.sh"
onnxc="${ONNXC_EXECUTABLE:-$root/build/onnxc}"
all=no threads=
while true; do
  case "${1:-}" in
    --all) all=yes; shift ;;
    --threads) threads="$2"; shift 2 ;;
    *) break ;;
  esac
done
folder="${1:-}"
[ $# -gt 0 ] && shift
if [ -z "$folder" ]; then
  folder="$("$root/tests/zoo/folder.sh" $([ $all = no ] || echo --all))" || exit $?
  case "$folder" in */networks-*) all=yes; echo "no real models here: networks with random weights, against ONNX Runtime" ;; esac
fi
models=("$@")
if [ $all = yes ]; then
  models=($(cd "$folder" && for model in */model.onnx; do dirname "$model"; done))
elif [ ${#models[@]} = 0 ]; then
  # The dense models: networks of convolutions, matrix products and attention.
  models=(churn_mlp lenet5_digits onnx2c_mnist mobilenet_v2 mobilenet_v3_small mobilenet_v3_small_ts17 squeezenet1_1 resnet18 resnet50 efficientnet_b0
    shufflenet_v2_x1_0 shufflenet_v2_x1_0_ts17 googlenet convnext_tiny ultraface_rfb_320 yolo_like unet_small espcn_superres autoencoder_ad
    mlperf_tiny_ad_fp32 mlperf_tiny_ic_fp32 mlperf_tiny_kws_fp32 mlperf_tiny_vww_fp32 bert_mini minilm_l6_arch distilbert_arch vit_s_16
    whisper_tiny_encoder dynamic_batch_cnn
    # Classical ones.
    lightgbm_clf xgboost_reg random_forest_clf random_forest_strings gradient_boosting_reg onnx2c_treeensemble svm_rbf logistic_pipeline kmeans mlp_sklearn
    tfidf_text
    # State, control flow and time.
    cond_if loop_scan silero_vad gpt2_mini_kv llama_mini_kv_op23 bilstm_tagger gru_classifier lstm_classifier tcn_audio
    # Few bits.
    bf16_mlp mlp_matmul4bits lenet5_digits_qdq mlperf_tiny_kws_int8 emx_micro_kws_qdq bert_mini_dynamic_int8)
fi
jobs=()
for i in "${!models[@]}"; do
  level=O3
  if [ -z "$threads" ] && [ $((i % 4)) != 0 ]; then
    level=O1
    [ "$(stat -Lc %s "$folder/${models[i]}/model.onnx")" -ge 1000000 ] || level=O0
  fi
  jobs+=("${threads:-$((1 + i % 2))} $level ${models[i]}")
done
# One line for each, as it ends; as many at a time as there are processors.
run_model() {
  local threads level model output
  read -r threads level model <<<"$1"
  [ "$level" = O3 ] || export ONNXC_CXX="$at_level" AT_LEVEL="-$level"
  if output="$(timeout 900 "$onnxc" run "$folder/$model/model.onnx" --threads "$threads" 2>&1)"; then
    printf 'ok      %-26s threads %s -%s  %s\n' "$model" "$threads" "$level" "$(grep -o 'largest error [0-9.e+-]*' <<<"$output" | sort -g -k3 | tail -n 1)"
  else
    printf 'FAILED  %-26s threads %s -%s  %s\n' "$model" "$threads" "$level" "$(tail -n 1 <<<"$output" | cut -c1-300)"
    return 1
  fi
}
export -f run_model
at_level="$root/tests/at_level.sh"
export AT_LEVEL_CXX="${ONNXC_CXX:-${CXX:-c++}}"  # what at_level.sh calls
export onnxc folder at_level
exec 3>&1
lines="$(printf '%s\n' "${jobs[@]}" | xargs -d '\n' -P "${ONNXC_JOBS:-$(nproc)}" -I{} bash -c 'run_model "$1"' _ {} | tee >(cat >&3))"
passed=$(grep -c '^ok ' <<<"$lines") failed=$((${#models[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
