"""python3 -m collapse.engine: see collapse/engine/__init__.py."""

import os
import sys


def protocol():
    """The original standard output. From here on, anything printed goes to standard error instead."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(answers, "wb")


if __name__ == "__main__":
    answers = protocol()
    from .service import serve

    status = serve(sys.stdin.buffer, answers)
    sys.stderr.flush()
    os._exit(status)  # the thread that waits for orders holds standard input, which Python would try to close
