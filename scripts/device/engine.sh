# Training in PyTorch on the GPU against our own kernels.
"$COLLAPSE" --lab "$WORK/lab" engine check --device cuda:0
