"""Run every benchmark of this folder, one after the other, and print what each prints: ``make bench``.

    python bench/run_all.py [NAME...]

A benchmark whose data is missing says so and is passed over.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    data = Path(os.environ.setdefault("TREEGLOT_DATA", str(HERE.parents[1] / "shared" / "data")))
    if not data.is_dir():
        print(f"no {data}: benchmarks on real data will be passed over (set TREEGLOT_DATA)")
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run_all")
    failed = []
    for name in names:
        print(f"\n== {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)", flush=True)
        arguments = (
            [str(path) for path in sorted(data.glob("trees/gum-en/const/*.ptb"))] if name == "penn_speed" else []
        )
        if subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments]).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
