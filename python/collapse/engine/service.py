"""The protocol: orders as JSON lines in, answers as JSON lines out, until the orders end."""

import json
import math
import os
import queue
import signal
import sys
import threading
import traceback

from .errors import Ended, EngineError, InputError, Refused
from .fields import Fields

LONGEST = 1 << 20  # bytes of a line
LEAVE = 10  # seconds for a step under way to finish after the orders have ended


OLDEST = (1, 13)  # of torch


def refuse_old(version):
    """Refuses a torch that is too old, before using anything that it may lack."""
    if tuple(int(n) for n in version.split(".")[:2]) < OLDEST:
        raise Refused("torch %s is too old; the engine needs %d.%d or newer" % (version, *OLDEST))


class Orders:
    """Reads lines in a separate thread, so that the end of the orders is noticed in the middle of an epoch."""

    def __init__(self, stream):
        self._stream, self._lines, self._end = stream, queue.Queue(8), threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def ended(self):
        return self._end.is_set()

    def next(self):
        """The fields of the next order. Raises Ended at the end, InputError for a line that is not an order."""
        line = self._lines.get()
        if self.ended():
            raise Ended()
        if len(line) > LONGEST:
            raise InputError("a line of more than %d bytes" % LONGEST)
        try:
            return Fields(json.loads(line, parse_constant=_no_number), "order")
        except (ValueError, RecursionError):
            raise InputError("a line that is not JSON: %.60r" % line)

    def _read(self):
        line = self._line()
        while line:
            self._lines.put(line)
            line = self._line()
        self._end.set()
        late = threading.Timer(LEAVE, os._exit, (1,))  # there may be no process left to kill this one
        late.daemon = True
        late.start()
        self._lines.put(None)

    def _line(self):
        """A line with its end; the start of a line that is too long; empty at the end, or if the last line has no end."""
        line = part = self._stream.readline(LONGEST + 1)
        while part and not part.endswith(b"\n"):
            part = self._stream.readline(LONGEST + 1)
        return line if part else b""


def _no_number(text):
    raise ValueError(text)


def encoded(values):
    """values for JSON, which cannot express non-finite numbers."""
    if isinstance(values, dict):
        return {name: encoded(v) for name, v in values.items()}
    if isinstance(values, (list, tuple)):
        return [encoded(v) for v in values]
    if isinstance(values, float) and not math.isfinite(values):
        return "nan" if math.isnan(values) else "inf" if values > 0 else "-inf"
    return values


class Answers:
    def __init__(self, stream):
        self._stream = stream

    def say(self, values):
        self._stream.write(json.dumps(encoded(values), allow_nan=False).encode() + b"\n")
        self._stream.flush()

    def error(self, kind, message):
        self.say({"error": {"kind": kind, "message": message}})


def serve(orders, answers):
    """Answers orders until they end, and returns the exit status. orders and answers are binary streams."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides when it ends
    answers = Answers(answers)
    try:
        import torch

        refuse_old(torch.__version__)
        from .engine import Engine, hello

        answers.say({"hello": hello()})
    except (ImportError, EngineError) as e:
        answers.error("refused", "%s has %s; install torch (pip install torch), or name another Python" % (sys.executable, e)
                      if isinstance(e, ImportError) else str(e))
        return 1
    orders = Orders(orders)
    engine = Engine(orders.ended, answers.say)
    try:
        while answered(engine, orders, answers):
            pass
    except (Ended, BrokenPipeError):
        return 0
    return 1


def answered(engine, orders, answers):
    """Answers one order, and returns whether the process can continue."""
    doing = "order"
    try:
        order = orders.next()
        order.where = doing = order.text("do")
        answers.say({"done": doing, **engine.do(order)})
        return True
    except (Ended, BrokenPipeError):
        raise
    except Exception as e:
        kind, message = engine.explained(e, doing)
        if kind == "failed":
            print("collapse.engine: run %s:" % (engine.run.name if engine.run else "none"), file=sys.stderr)
            traceback.print_exc()
        answers.error(kind, message)
        return kind != "failed"
