"""Runs of `collapse train` computed by PyTorch: `run.engine = "torch"`.

    python3 -m collapse.engine

is started by the program and speaks the contract `collapse-engine 1` on standard input and output. The program makes every random
decision; nothing here draws a number.

service.py has the protocol, engine.py the orders, run.py the state that they work on. trainer.py does a step, epoch.py an epoch of steps,
evaluation.py passes without steps. nets.py, losses.py, decay.py and optimisers.py have the definitions, one table each: add new ones
there. images.py makes batches, weights.py checkpoints; npy.py and safetensors.py read and write files; devices.py knows torch's switches.
"""
