"""The campaign of damaged and forged files: `python tests/campaign/run.py`, or ``make campaign``.

Every file that treeglot writes for itself is damaged in many ways and used; each try ends as one of

- *refused*: an error that names the file,
- *same*: the answers of the good file (the damage did not matter, or was mended by making the file anew),
- *other*: other answers, which only forged contents with right checksums may give: nobody can tell them from a real file,
- *silent*: other answers of a damaged file, *wrong error*: an error that does not name the file, *crash*, *hang*: never.

A process tries many; if it dies or is silent for too long the next one goes on behind. What was done is kept in ``--state``: a run
that is stopped goes on there. The exit code is 1 if anything happened that never may.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import resource
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from campaign.faults import FAULTS, fault_of, faulty, forgeable
from campaign.kinds import KINDS, User, make_files
from treeglot import TreeglotError

OUTCOMES = ("refused", "same", "other", "silent", "wrong error", "crash", "hang")
NEVER = OUTCOMES[3:]
PATIENCE = 60.0
"""Seconds that one try may take."""


def work(folder: Path, kind: str, fault: str, seed: int, begin: int, end: int) -> None:
    """In a process of its own: announce each try, then what became of it."""
    faulthandler.enable()
    good = (folder / kind).read_bytes()
    with tempfile.TemporaryDirectory() as own:
        user, path = User(folder, Path(own)), Path(own) / "bad"
        answers = user.use(kind, folder / kind, sealed=True)
        for number in range(begin, end):
            now = fault_of(kind, fault, number)
            name, bad = faulty(good, kind, now, number, seed)
            print(f"{number}\t{name}", flush=True)
            path.unlink(missing_ok=True)
            path.write_bytes(bad)
            print("\t" + _outcome(user, kind, now, path, answers), flush=True)


def _outcome(user: User, kind: str, fault: str, path: Path, answers: str) -> str:
    try:
        same = user.use(kind, path, sealed=fault != "damage") == answers
    except TreeglotError as error:
        return "refused" if str(path) in str(error) else f"wrong error\t{error}"
    except Exception as error:
        return f"wrong error\t{type(error).__name__}: {error}"
    return "same" if same else "other" if fault == "contents" else "silent"


def tried(
    folder: Path, kind: str, fault: str, seed: int, begin: int, end: int
) -> tuple[collections.Counter[str], list[str]]:
    """How often each outcome came, and what happened that never may."""
    counts: collections.Counter[str] = collections.Counter()
    notes: list[str] = []
    while begin < end:
        number, name, outcome = _worker(folder, kind, fault, seed, begin, end, counts, notes)
        if outcome:
            counts[outcome] += 1
            notes.append(f"{outcome}: {kind}, {fault}, try {number}: {name}")
        begin = number + 1
    return counts, notes


def _worker(
    folder: Path,
    kind: str,
    fault: str,
    seed: int,
    begin: int,
    end: int,
    counts: collections.Counter[str],
    notes: list[str],
) -> tuple[int, str, str]:
    """Run a process up to its end; the last try, and what ended it."""
    command = [sys.executable, __file__, "--work", str(folder), kind, fault, str(seed), str(begin), str(end)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    number, name, rest, last = begin - 1, "before the first", b"", time.monotonic()
    hung = False
    while True:
        ready, _, _ = select.select([process.stdout], [], [], 1.0)
        if not ready:
            if time.monotonic() - last > PATIENCE:
                hung = True
                process.kill()
                break
            continue
        data = process.stdout.read(1 << 16)
        if not data:
            break
        last = time.monotonic()
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            first, _, more = line.decode().partition("\t")
            if first:
                number, name = int(first), more
                continue
            outcome, _, note = more.partition("\t")
            counts[outcome] += 1
            if outcome in NEVER:
                notes.append(f"{outcome}: {kind}, {fault}, try {number}: {name} {note}")
            name = ""
    code = process.wait()
    assert process.stderr is not None
    errors = process.stderr.read().decode(errors="replace")[-3000:]
    if hung:
        return number, name, "hang"
    if code != 0:
        if number < begin:
            raise SystemExit(f"{kind}: the good file does not pass\n{errors}")
        return number, f"{name} (exit code {code})\n{errors}", "crash"
    return number, name, ""


def table(rows: list[tuple[str, str, collections.Counter[str]]]) -> str:
    """The outcomes as a table in Markdown."""
    lines = [f"| file | fault | tries | {' | '.join(OUTCOMES)} |", "| --- | --- |" + " --: |" * (len(OUTCOMES) + 1)]
    total: collections.Counter[str] = collections.Counter()
    for kind, fault, counts in rows:
        total += counts
        cells = " | ".join(f"{counts[outcome]:,}" if counts[outcome] else "" for outcome in OUTCOMES)
        lines.append(f"| {kind} | {fault} | {counts.total():,} | {cells} |")
    cells = " | ".join(f"{total[outcome]:,}" for outcome in OUTCOMES)
    return "\n".join([*lines, f"| all | | {total.total():,} | {cells} |"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--damages", type=int, default=100_000, help="random damages over all kinds of files")
    parser.add_argument("--forged", type=int, default=10_000, help="forged headers over all kinds of files")
    parser.add_argument("--contents", type=int, default=10_000, help="forged contents over all kinds of files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind of file")
    parser.add_argument("--state", type=Path, default=Path("build/campaign"), help="what was done is kept here")
    parser.add_argument("--chunk", type=int, default=2000, help="tries between notes of what was done")
    arguments = parser.parse_args()
    arguments.state.mkdir(parents=True, exist_ok=True)
    print(f"seed {arguments.seed}, state in {arguments.state}", flush=True)
    rows, bad = [], False
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        for fault in FAULTS:
            wanted = {"damage": arguments.damages, "header": arguments.forged, "contents": arguments.contents}[fault]
            kinds = [kind for kind in arguments.kind or KINDS if forgeable(kind, fault)]
            for place, kind in enumerate(kinds):
                share = wanted * (place + 1) // len(kinds) - wanted * place // len(kinds)
                note = arguments.state / f"{kind}.{fault}.{arguments.seed}.json"
                done = json.loads(note.read_text()) if note.exists() else {"tries": 0, "counts": {}, "notes": []}
                while done["tries"] < share:
                    end = min(share, done["tries"] + arguments.chunk)
                    counts, notes = tried(Path(folder), kind, fault, arguments.seed, done["tries"], end)
                    counts += collections.Counter(done["counts"])
                    done = {"tries": end, "counts": dict(counts), "notes": done["notes"] + notes}
                    note.write_text(json.dumps(done))
                for line in done["notes"]:
                    print(line)
                    bad = True
                print(f"{kind}, {fault}: {done['tries']:,} tries, {done['counts']}", flush=True)
                rows.append((kind, fault, collections.Counter(done["counts"])))
    print(table(rows))
    return int(bad)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--work":
        if "libasan" not in Path("/proc/self/maps").read_text():
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # sizes that are made up must not be taken
        work(Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6]), int(sys.argv[7]))
    else:
        sys.exit(main())
