"""The benchmarks of this folder in one run, each with what it prints: ``make bench``.

    python bench/run_all.py [NAME...]

Without names, those that take a minute or so each. ``scale_justice`` and ``phrasal_coverage`` take longer, and ``parse_speed`` needs
a parser: name them, or run them by themselves with their own options. What needs data that is not there is passed over.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def jobs(data: Path, work: Path) -> dict[str, list[list[str]]]:
    """The command lines of each benchmark; an empty list if its data is missing."""
    trees = [str(path) for path in sorted(data.glob("trees/gum-en/const/*.ptb"))[:60]]
    multi = data / "mt/multi30k"
    for language in ("de", "en"):
        if multi.is_dir():
            side = "source" if language == "de" else "target"
            (work / f"multi30k.{side}").write_bytes((multi / f"lc-tok/train.{language}").read_bytes())
    french = data / "mt/multi30k/val.fr"
    return {
        "conllu_speed": [["--sentences", "100000"]],
        "large_inputs": [[]],
        "parsed_corpus": [[]] if multi.is_dir() else [],
        "penn_speed": [trees] if trees else [],
        "lm_speed": [[]],
        "alignment_speed": [[str(work), str(work / "multi30k")]] if multi.is_dir() else [],
        "phrase_extraction": [[]] if multi.is_dir() else [],
        "rule_tables": [[]] if multi.is_dir() else [],
        "mwu_extraction": [[], ["--lengths"]] if (data / "trees/ud-pud").is_dir() else [],
        "decoder_speed": [[]] if multi.is_dir() else [],
        "tuning_speed": [["--sentences", "300", "--iterations", "5"]],
        "parse_speed": [[str(french), "--lang", "fr"]] if french.is_file() else [],
        "phrasal_coverage": [[]] if trees else [],
        "scale_justice": [[]] if (data / "mt/justice-canada-fr-en").is_dir() else [],
    }


DEFAULT = (
    "conllu_speed",
    "large_inputs",
    "parsed_corpus",
    "penn_speed",
    "lm_speed",
    "alignment_speed",
    "phrase_extraction",
    "rule_tables",
    "mwu_extraction",
    "decoder_speed",
    "tuning_speed",
)


def main() -> int:
    data = Path(os.environ.setdefault("TREEGLOT_DATA", str(HERE.parents[1] / "shared" / "data")))
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        known = jobs(data, Path(folder))
        for name in sys.argv[1:] or DEFAULT:
            if name not in known:
                print(f"no benchmark {name}: choose from {', '.join(known)}")
                return 2
            print(f"\n== {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)", flush=True)
            if not known[name]:
                print(f"passed over: no data under {data} (set TREEGLOT_DATA)")
            for arguments in known[name]:
                if subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments]).returncode:
                    failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
