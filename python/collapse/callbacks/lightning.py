"""For PyTorch Lightning: Trainer(callbacks=[CollapseCallback("out/net")])."""

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    try:
        from pytorch_lightning.callbacks import Callback
    except ImportError as e:
        raise ImportError("collapse: this callback needs lightning or pytorch_lightning: %s" % e) from None

from .plain import Meter, headline


class CollapseCallback(Callback):
    """Measures after each train epoch, over the train loader unless another is given; the options are those of Meter.

    pl_module(x) must return the logits, or split= must say what to pass. The main numbers go to Lightning's loggers as collapse/nc1_pinv and
    so on. With several processes, each takes its part of the loader, and all of them must see the folder.
    """

    def __init__(self, history=None, loader=None, **options):
        super().__init__()
        self._history, self._loader, self._options, self.meter = history, loader, options, None

    @property
    def history(self):
        return None if self.meter is None else self.meter.history

    def on_train_epoch_end(self, trainer, pl_module):
        if self.meter is None:
            several = {"rank": trainer.global_rank, "world": trainer.world_size, "barrier": trainer.strategy.barrier} if trainer.world_size > 1 else {}
            self.meter = Meter(self._loader or trainer.train_dataloader, self._history, **dict(several, **self._options))
        result = self.meter(pl_module, trainer.current_epoch + 1)
        if result is not None:
            for name, value in headline(result).items():
                pl_module.log(name, value, rank_zero_only=True)
