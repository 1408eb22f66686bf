"""The errors that an engine answers instead of a result, and how any exception becomes one. Needs no torch."""

LONGEST = 4000  # characters of a message


class EngineError(Exception):
    """An answer that leaves the process ready for the next order."""

    kind = "input"


class InputError(EngineError):
    """An order or a file is wrong."""


class Refused(EngineError):
    """This engine, torch or device cannot do the run."""

    kind = "refused"


class OutOfMemory(EngineError):
    """The device has too little memory."""

    kind = "memory"


class Ended(Exception):
    """Standard input has ended: leave."""


# Not all supported versions of torch have exception types for these.
_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "Unable to allocate")
_REFUSALS = {
    "deterministic": "torch has no deterministic version of an operation of this run on this device",
    "Expected more than 1 value per channel": "batch norm has no variance of one value per channel; choose a batch size that leaves no last batch of 1",
}


def explained(error, doing, device=None, batch=None):
    """The (kind, message) of an exception. doing is the order's name; device and batch are the run's, if there is one."""
    text = str(error)[:LONGEST]
    if isinstance(error, EngineError):
        return error.kind, text
    if isinstance(error, MemoryError) or any(sign in text for sign in _MEMORY):
        return "memory", "%s: memory of %s is short at batches of %s (%s); try a smaller run.batch, or another device" % (
            doing, device, batch, first_line(text))
    for sign, meaning in _REFUSALS.items():
        if isinstance(error, (RuntimeError, ValueError)) and sign in text:
            return "refused", "%s: %s (torch says: %s)" % (doing, meaning, first_line(text))
    if isinstance(error, OSError):
        return "input", "%s: %s" % (doing, text)
    return "failed", "%s: %s: %s" % (doing, type(error).__name__, text)


def first_line(text):
    return (text.strip().splitlines() or ["no reason given"])[0]
