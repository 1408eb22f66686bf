"""Measures a model while its trainer runs: plain.py is for loops of your own, and there are callbacks for Lightning, the Hugging Face
Trainer and Keras. Only the module of a callback imports its library:

    from collapse.callbacks.lightning import CollapseCallback
    from collapse.callbacks.huggingface import CollapseCallback
    from collapse.callbacks.keras import CollapseCallback
    from collapse.callbacks import Meter
"""

from .plain import Meter

__all__ = ["Meter"]
