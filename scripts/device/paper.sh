# M-D Fig. 1 at the paper's own size on MNIST, in PyTorch on the GPU: what a time allows, seed by seed. `scripts/device.sh pack` brings the whole of
# MNIST if it is in COLLAPSE_MNIST, and numbers that are not yet in docs/results/paper if they are in out/device/paper-lab. The numbers come home in
# OUT/paper-lab.tar.gz:
#   collapse --lab papers lab merge paper-lab
# PAPER_SET are the parts of the grid, PAPER_SEEDS how many seeds.
lab=$WORK/paper
for home in docs/results/paper/lab out/device/paper-lab; do
  if [ -d "$home" ]; then "$COLLAPSE" --lab "$lab" lab merge "$home"; fi
done
settings=(--set 'data.name=["mnist"]' --set run.engine=torch)
for s in ${PAPER_SET:-loss.kind=[\"ce\",\"ls\"] data.noise=[0.1,0.2,0.4]}; do settings+=(--set "$s"); done
COLLAPSE_DATA=out/device "$COLLAPSE" --lab "$lab" reproduce md-fig1 --scale paper "${settings[@]}" --seeds "${PAPER_SEEDS:-5}" --other-build \
  --device "${PAPER_DEVICE:-cuda:0}" --python "$PYTHON" --budget "$((LEFT - 45))s" --out "$WORK/page" -q
"$COLLAPSE" --lab "$lab" lab copy "$WORK/paper-lab" --numbers
tar -czf "$OUT/paper-lab.tar.gz" -C "$WORK" paper-lab
