"""Checks a Tap's arguments before anything is written."""

from .rows import POOLS


def check_arguments(model, layers, pool, keep, labelled, drop_nonfinite):
    """Raises TypeError or ValueError for a call that cannot work."""
    if type(model).__name__ == "DataParallel":
        raise TypeError("collapse: nn.DataParallel runs copies of the model in threads, and hooks would mix their "
                        "batches; run model.module, and write Tap(model.module, folder)")
    if type(model).__name__ in ("OptimizedModule", "RecursiveScriptModule"):
        raise TypeError("collapse: a compiled or scripted model cannot be watched; run the plain model it was made from (of "
                        "torch.compile: model._orig_mod), and write Tap(plain_model, folder)")
    if isinstance(layers, str):
        raise TypeError("collapse: layers is the string %r; it must be a list: [%r]" % (layers, layers))
    if not callable(pool) and pool not in POOLS:
        raise ValueError("collapse: pool is %r; it must be %s or a function" % (pool, ", ".join(map(repr, POOLS))))
    _check_keep(keep, labelled, drop_nonfinite)


def _check_keep(keep, labelled, drop_nonfinite):
    if keep not in ("features", "states"):
        raise ValueError("collapse: keep is %r; it must be 'features' or 'states'" % (keep,))
    if keep == "states" and not labelled:
        raise ValueError("collapse: states are sums over the samples of each class, and labelled=False says there are no classes; capture "
                         "unlabelled samples with keep='features'")
    if keep == "features" and drop_nonfinite:
        raise ValueError("collapse: drop_nonfinite goes with keep='states'; of features, `collapse measure --drop-nonfinite` leaves rows out")


def module_named(modules, name):
    if name in modules:
        return modules[name]
    import difflib
    near = difflib.get_close_matches(str(name), modules, n=3) or [n for n in modules if n][:8]
    raise ValueError("collapse: the model has no module %r; near or first names: %s" % (name, ", ".join(map(repr, near))))
