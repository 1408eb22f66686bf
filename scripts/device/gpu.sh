# Measures models on the GPU and compares with the processor; calls the callbacks from their libraries.
"$PYTHON" scripts/gpu.py "$COLLAPSE" cuda:0
