"""Keeps the program running next to this process, so that measuring arrays needs no start-up: `collapse measure --requests`.

A request is a line of JSON on its standard input, the answer a line on its standard output. There is one helper per program, and
calls take turns. A child of fork() starts its own helper; a helper whose parent is gone sees the end of its standard input and ends.
"""

import atexit
import json
import os
import subprocess
import tempfile
import threading
import warnings

from .arena import Arena
from .command import MeasureError

_helpers, _starting = {}, threading.Lock()
_said = set()


def helper_of(binary):
    """The helper that runs the program `binary`."""
    with _starting:
        if binary not in _helpers:
            _helpers[binary] = Helper(binary)
        return _helpers[binary]


def close():
    """Ends the helper processes and frees the memory that arrays were passed in. The next call starts anew."""
    with _starting:
        helpers = list(_helpers.values())
        _helpers.clear()
    for helper in helpers:
        with helper.lock:
            helper.end()


def say_once(key, message):
    if key not in _said:
        _said.add(key)
        warnings.warn("collapse: " + message, RuntimeWarning, stacklevel=2)


class Helper:
    """Hold `lock` while filling the arena and until the answer has arrived."""

    def __init__(self, binary):
        self.binary, self.lock = binary, threading.Lock()
        self.arena, self._process, self._errors = Arena(), None, None

    @property
    def pid(self):
        """The process number of the helper; None if there is none."""
        return None if self._process is None else self._process.pid

    def ask(self, arguments):
        """The answer of `collapse measure --json ARGUMENTS`: {"exit", "document", "said"}."""
        line = json.dumps({"arguments": arguments}).encode() + b"\n"
        for again in (False, True):
            started = self._process is None
            try:
                answer = self._exchange(line)
            except BaseException:  # Ctrl-C: an answer that arrives later must not be taken for that of the next call
                self._drop(kill=True)
                raise
            if answer is not None:
                return answer
            status, words = self._drop(kill=False)
            if again or started:
                raise MeasureError("collapse: the helper process `%s measure --requests` ended (%s) before it answered%s"
                                   % (self.binary, _ending(status), ":\n" + words if words else "; it said nothing"), status, words)
            say_once("restart", "the helper process had ended (%s) and was started again" % _ending(status))
        raise AssertionError("unreachable")

    def end(self):
        self._drop(kill=False, close=True)
        self.arena.close()

    def forget(self):
        """In a child of fork(): leaves the process and the memory to the parent."""
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._errors.close()
            self._process.returncode = 0  # not this process's child
        self._process = None
        self.arena.forget()

    def _exchange(self, line):
        """The answer to a line; None if the process has ended."""
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(line)
            text = self._process.stdout.readline()
        except (BrokenPipeError, ConnectionResetError, OSError):
            return None
        if not text.endswith(b"\n"):
            return None
        try:
            return json.loads(text)
        except ValueError:
            raise MeasureError("collapse: the helper process did not answer with a line of JSON; it began with %r" % text[:80]) from None

    def _start(self):
        self._errors = _words_file()
        apart = {"start_new_session": True} if os.name == "posix" else {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        # A separate session: Ctrl-C at the terminal goes only to this process, which then ends the helper.
        self._process = subprocess.Popen([self.binary, "measure", "--requests"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._errors, bufsize=-1, pass_fds=self.arena.inherited(), **apart)
        self._process.stdin = _unbuffered(self._process.stdin)

    def _drop(self, kill, close=False):
        """Ends the process; returns (exit status, its last output)."""
        process, errors = self._process, self._errors
        self._process = self._errors = None
        if process is None:
            return None, ""
        if kill:
            process.kill()
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()
            except OSError:
                pass
        try:
            status = process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        words = ""
        if not (kill or close):
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4000))
            words = errors.read().decode(errors="replace").strip()
        errors.close()
        return status, words


def _words_file():
    """The file for the helper's error output: none if no temporary folder accepts a file."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return open(os.devnull, "w+b")


def _unbuffered(pipe):
    """The unbuffered end of a pipe: a buffer would keep a request that could not be written, and write it on closing."""
    return pipe.detach()


def _ending(status):
    if status is None or status >= 0:
        return "exit status %s" % status
    return "signal %d%s" % (-status, ", as when memory runs out" if status == -9 else "")


def _after_fork():
    global _starting
    _starting = threading.Lock()
    for helper in _helpers.values():
        helper.forget()
    _helpers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(close)
