# A trainer in the shell: gradient descent on (w - 3)², and one line of JSON for each epoch.
w=0 epoch=$COLLAPSE_FROM_EPOCH
while [ "$epoch" -lt "$COLLAPSE_EPOCHS" ]; do
  epoch=$((epoch + 1))
  w=$(awk "BEGIN { print $w + 0.4 * (3 - $w) }")
  loss=$(awk "BEGIN { print ($w - 3) ^ 2 }")
  echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $epoch, \"values\": {\"test/loss\": $loss}}" >>"$COLLAPSE_EVENTS"
done
echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >>"$COLLAPSE_EVENTS"
