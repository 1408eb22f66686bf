"""Passes the numbers of a History on to TensorBoard, W&B, MLflow or functions."""


def logger_of(logger, arguments, options):
    """A function (epoch, numbers)."""
    if isinstance(logger, str):
        known = {"tensorboard": _tensorboard, "wandb": _wandb, "mlflow": _mlflow}
        if logger not in known:
            raise ValueError("collapse: log_to(%r): wanted %s, or a function (epoch, numbers)" % (logger, ", ".join(map(repr, known))))
        return known[logger](*arguments, **options)
    if hasattr(logger, "add_scalar"):
        return _tensorboard(logger)
    if hasattr(logger, "log") and not callable(logger):
        return _wandb(logger)
    if callable(logger):
        return logger
    raise TypeError("collapse: log_to(%r): wanted a name, a SummaryWriter, a run of wandb or a function (epoch, numbers)" % (logger,))


def _missing(package, error):
    return ImportError("collapse: logging needs %s, which cannot be imported: %s" % (package, error))


def _tensorboard(*arguments, **options):
    if arguments and hasattr(arguments[0], "add_scalar"):
        writer = arguments[0]
    else:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as e:
            raise _missing("torch.utils.tensorboard", e) from None
        writer = SummaryWriter(*arguments, **options)

    def log(epoch, numbers):
        for name, x in numbers.items():
            writer.add_scalar(name, x, epoch)
        writer.flush()
    return log


def _wandb(run=None, **options):
    if run is None:
        try:
            import wandb
        except ImportError as e:
            raise _missing("wandb", e) from None
        run = wandb.init(**options)
    return lambda epoch, numbers: run.log(dict(numbers, epoch=epoch))  # no step: the trainer counts steps of its own


def _mlflow():
    try:
        import mlflow
    except ImportError as e:
        raise _missing("mlflow", e) from None
    return lambda epoch, numbers: mlflow.log_metrics(numbers, step=epoch)
