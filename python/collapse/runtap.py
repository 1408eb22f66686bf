"""The Tap of a run of the lab: where the model has diverged it takes nothing, so that the script goes on and can report NaN."""

from .errors import ClassifierError
from .heads import outputs_of
from .tap import Tap


class RunTap(Tap):
    """A Tap that takes nothing from the first batch on that it cannot take because its logits hold NaN or infinity; diverged says so."""

    diverged = False

    def labels(self, *arguments, **options):
        if not self.diverged:
            super().labels(*arguments, **options)

    def __exit__(self, kind, error, trace):
        if not self.diverged:
            return super().__exit__(kind, error, trace)
        super().__exit__(kind or ClassifierError, error, trace)  # what was taken is no whole capture
        self._folder.clear()
        return False

    def _batch_begins(self, module, inputs):
        if not self.diverged:
            super()._batch_begins(module, inputs)

    def _batch_ends(self, module, inputs, output):
        if self.diverged:
            return
        try:
            super()._batch_ends(module, inputs, output)
        except ValueError:  # no proof, or rows that states refuse
            outputs = outputs_of(output, self._pick)
            if not outputs or not all(_not_finite(tensor) for _, tensor in outputs):
                raise
            self.diverged = True

    def _taker(self, stream, name):
        take = super()._taker(stream, name)
        return lambda *arguments: None if self.diverged else take(*arguments)


def _not_finite(tensor):
    """Whether logits have diverged; −inf alone stands for classes that are masked."""
    return bool((tensor.isnan() | (tensor == float("inf"))).any())
