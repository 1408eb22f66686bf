"""Put into a package whose functions say where a run comes: each process writes their names to the file that MUTANT_REACHED names."""

import os

_open, _write, _close, _environ = os.open, os.write, os.close, os.environ  # tests replace them
_seen, _last = set(), ""


def at(name):
    global _last
    _last = path = _environ.get("MUTANT_REACHED", _last)
    if path and (path, name) not in _seen:
        _seen.add((path, name))
        file = _open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o666)
        _write(file, name.encode() + b"\n")
        _close(file)
