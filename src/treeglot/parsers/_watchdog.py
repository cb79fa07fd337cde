"""Run a program and stop it when the process that asked for it is gone, even by ``kill -9``.

``python _watchdog.py PROGRAM ARGUMENT...``: the parent holds the other end of standard input and never writes; when it
dies the pipe closes and the program is stopped. On leaving, the program's peak memory in bytes goes to standard output.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading


def main(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def stop(*_: object) -> None:
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()

    def wait_for_parent() -> None:
        while os.read(0, 64):
            pass
        stop()

    # The parent decides when the program ends, not a Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=wait_for_parent, daemon=True).start()
    code = child.wait()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    with contextlib.suppress(OSError):
        os.write(1, f"{peak}\n".encode())
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
