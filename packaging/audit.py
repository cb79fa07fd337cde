"""Look for known vulnerabilities in what the tests run with: ``make audit``.

The versions that are installed in the test environment are written down (``build/audit/requirements.txt``) and given to pip-audit, which
asks the Python package index about each. pip-audit stands in an environment of its own. If the index's service cannot be
reached nothing has been looked at, and that is said; it is no success.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path("build/audit")
UNREACHABLE = (
    "could not be audited",
    "ConnectionError",
    "Connection",
    "Max retries",
    "timed out",
    "ServiceError",
    "ProxyError",
    "SSLError",
    "HTTPError",
)


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    lock = FOLDER / "requirements.txt"
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    lock.write_text(subprocess.run(freeze, check=True, stdout=subprocess.PIPE, text=True).stdout)
    python = FOLDER / "environment" / "bin" / "python"
    if not python.exists():
        venv.create(FOLDER / "environment", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pip-audit"], check=True)
    command = [
        python,
        "-m",
        "pip_audit",
        "--requirement",
        lock,
        "--no-deps",
        "--disable-pip",
        "--progress-spinner",
        "off",
    ]
    command.append("--strict")  # what the index does not know is not good
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    count = len(lock.read_text().splitlines())
    if done.returncode == 0:
        print(f"{done.stdout.strip()}\n{count} packages audited")
    elif "Found " in done.stdout and "vulnerabilit" in done.stdout:
        print(done.stdout.strip())
    elif any(sign in done.stdout for sign in UNREACHABLE):
        print(
            f"NOT AUDITED: the service that knows vulnerabilities cannot be reached from here ({count} packages in {lock})"
        )
        print(done.stdout.strip().splitlines()[-1])
    else:
        print(f"NOT AUDITED: pip-audit failed\n{done.stdout.strip()}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
