"""For the Hugging Face Trainer: Trainer(..., callbacks=[CollapseCallback("out/gpt")])."""

try:
    from transformers import TrainerCallback
except ImportError as e:
    raise ImportError("collapse: this callback needs transformers: %s" % e) from None

from .plain import Meter

IGNORED = -100  # the label that transformers ignores in losses


class CollapseCallback(TrainerCallback):
    """Measures after each epoch, over the train loader unless another is given; the options are those of Meter.

    causal  True: the classes are tokens, and position t is labelled with token t+1, as causal language models shift their labels; None: decided by
            the model's name (…ForCausalLM, …LMHeadModel). Labels of -100 are left out, and states are kept instead of features.
    """

    def __init__(self, history=None, loader=None, causal=None, **options):
        self._history, self._loader, self.causal, self._options, self.meter = history, loader, causal, options, None

    @property
    def history(self):
        return None if self.meter is None else self.meter.history

    def on_epoch_end(self, args, state, control, model=None, train_dataloader=None, **kwargs):
        if self.meter is None:
            self.meter = self._make(args, model, train_dataloader)
        self.meter(model, max(1, round(state.epoch)))

    def _make(self, args, model, train_dataloader):
        name = type(getattr(model, "module", model)).__name__
        causal = name.endswith(("ForCausalLM", "LMHeadModel")) if self.causal is None else self.causal
        options = {"split": shifted if causal else labelled, "ignore_index": IGNORED}
        if causal:
            options["keep"] = "states"
        if args.world_size > 1:
            import torch.distributed
            options.update(rank=args.process_index, world=args.world_size, barrier=torch.distributed.barrier)
        return Meter(self._loader or train_dataloader, self._history, **dict(options, **self._options))


def labelled(batch):
    """(inputs, labels): the model gets no labels, so it computes no loss."""
    if "labels" not in batch:
        raise KeyError("collapse: a batch has no labels; it has %s; pass split=function of a batch that returns inputs and labels" % sorted(batch))
    return {key: x for key, x in batch.items() if key != "labels"}, batch["labels"]


def shifted(batch):
    """labelled() with the label of position t moved to position t-1; the last position has none."""
    inputs, labels = labelled(batch)
    y = labels.new_full(labels.shape, IGNORED)
    y[:, :-1] = labels[:, 1:]
    return inputs, y
