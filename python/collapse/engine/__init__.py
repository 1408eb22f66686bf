"""Runs of `collapse train` computed by PyTorch: `run.engine = "torch"`.

    python3 -m collapse.engine

is started by the program and speaks the contract `collapse-engine 2` on standard input and output. The program makes every random
decision; nothing here draws a number.

service.py has the protocol, engine.py opens runs. A run is computed in one of two ways:

- image networks, and L-BFGS, alone, in torch's own modules: alone.py has the orders, run.py is the state, trainer.py does a step, epoch.py
  an epoch of steps, evaluation.py passes without steps, optimisers.py the updates;
- multilayer perceptrons with SGD or Adam as members of an ensemble, which may have one: ensemble.py is the state, members.py has the orders,
  together.py epochs and passes, perceptrons.py the networks, products.py their products, flat.py the parameters and updates, stack.py reads
  several runs' orders as one.

nets.py, losses.py and decay.py have the definitions of both: add new ones there. images.py makes batches, weights.py checkpoints; npy.py and
safetensors.py read and write files; devices.py knows torch's switches.
"""
