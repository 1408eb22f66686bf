# Training in PyTorch on the GPU: steps alone and in company, engines and programs that are killed, and all of it against our own kernels.
steps() { "$COLLAPSE" bench train --engine torch --device cuda:0 --steps 1500 "$@"; }
steps --net mlp --batch 512 --members 1,16
steps --net mlp --depth 3 --width 128 --batch 64 --classes 10 --feature-dim 10 --members 1,4,16,64
steps --net resnet18-cifar --batch 64
steps --net resnet18 --batch 128
steps --net resnet18-adapt --batch 64
COLLAPSE_PYTHON="$PYTHON" "$PYTHON" scripts/kill_engines.py "$COLLAPSE" 6 1 cuda:0
"$COLLAPSE" --lab "$WORK/lab" engine check --device cuda:0
