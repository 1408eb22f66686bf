"""Runs of `collapse train` computed by PyTorch: `run.engine = "torch"`.

    python3 -m collapse.engine

is started by the program and speaks the contract `collapse-engine 1` on standard input and output. The program makes every random
decision; nothing here draws a number.

service.py is the protocol, engine.py the orders, run.py what they work on. A step is in trainer.py, an epoch of them in epoch.py, passes
without steps in evaluation.py. nets.py, losses.py, decay.py and optimisers.py are the definitions, one table each: to add one, add it
there. images.py makes batches, weights.py checkpoints, npy.py and safetensors.py read and write files; devices.py knows torch's switches.
"""
