"""Measures a model while its trainer runs: plain.py for loops of one's own, and a callback each for Lightning, the Hugging Face Trainer and
Keras. The libraries' modules are imported by the callback's module alone:

    from collapse.callbacks.lightning import CollapseCallback
    from collapse.callbacks.huggingface import CollapseCallback
    from collapse.callbacks.keras import CollapseCallback
    from collapse.callbacks import Meter
"""

from .plain import Meter

__all__ = ["Meter"]
