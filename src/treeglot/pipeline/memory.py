"""The most memory that this process had: since it began, or since a moment of one's choice.

>>> meter = PeakMeter()
>>> block = bytes(1 << 20)
>>> meter.bytes > 1 << 20
True
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_RESET = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): set the peak resident set size to the present one


def peak_memory() -> int:
    """The most memory that this process had, in bytes, since it began or since the last `PeakMeter`.

    The kernel's own count of this address space: what getrusage says of a child includes its parent's memory.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.removeprefix("VmHWM:").removesuffix("kB")) * 1024
    except OSError:
        pass
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


class PeakMeter:
    """Measures from now on, one at a time in a process. Where the kernel cannot forget an earlier peak, `bytes` is no more
    than an upper bound until that peak is exceeded; `exact` says so."""

    def __init__(self) -> None:
        try:
            _RESET.write_text(_RESET_PEAK, encoding="ascii")
            self._before = 0
        except OSError:
            self._before = peak_memory()

    @property
    def bytes(self) -> int:
        """The most memory that the process had since."""
        return peak_memory()

    @property
    def exact(self) -> bool:
        """Whether `bytes` was reached since, not before."""
        return peak_memory() > self._before
