# `collapse solve deep --relu` against plain descents in 40 drawn settings, then the table of what the searches find.
jobs=$(($(nproc) / 2))
"$PYTHON" compare/deep_descents.py descend --out "$OUT/ends.jsonl" --jobs "$(nproc)"
"$PYTHON" compare/deep_descents.py compare "$OUT/ends.jsonl" --binary "$COLLAPSE" --jobs "$jobs"
for share in 0.3 0.7; do
  echo "share $share"
  "$PYTHON" compare/deep_descents.py table --binary "$COLLAPSE" --share "$share" --k 3 4 5 6 7 8 9 10 --jobs "$jobs"
done
