"""Coverage-guided fuzzing of every reader with atheris: ``make fuzz``.

    python tests/fuzz_readers.py [--seconds 60] [READER...]

Whatever the bytes, a reader may only succeed or raise a `TreeglotError`. Each reader runs in a process of its own for the
given time; inputs that reach new code are kept in ``fuzz-corpus/READER`` and used again in the next run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

READERS: dict[str, tuple[str, str, str]] = {
    "conllu": ("treeglot.trees.conllu", "read_conllu", "x.conllu"),
    "penn": ("treeglot.trees.penn", "read_penn", "x.penn"),
    "bracketed": ("treeglot.trees.bracketed", "read_bracketed", "x.bracketed"),
    "tiger": ("treeglot.trees.tiger", "read_tiger", "x.xml"),
    "treealigner": ("treeglot.trees.treealigner", "read_treealigner", "x.sta.xml"),
    "jsonl": ("treeglot.trees.treejson", "read_jsonl", "x.jsonl"),
    "pharaoh": ("treeglot.trees.wordlinks", "read_pharaoh", "x.pharaoh"),
    "giza": ("treeglot.trees.wordlinks", "read_giza", "x.a3"),
    "naacl": ("treeglot.trees.wordlinks", "read_naacl", "x.naacl"),
    "config": ("treeglot.pipeline.config", "load_config", "treeglot.toml"),
    "tmx": ("treeglot.bitext", "read_tmx", "x.tmx"),
    "po": ("treeglot.bitext", "read_po", "x.po"),
    "tsv": ("treeglot.bitext", "read_tsv", "x.tsv"),
    "pairs-jsonl": ("treeglot.bitext", "read_jsonl", "x.jsonl"),
}
OPTIONS: dict[str, dict[str, Any]] = {"tmx": {"source_lang": "de", "target_lang": "en"}}
SEEDS = [
    b"# sent_id = 1\n1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n1.1\tb\t_\t_\t_\t_\t_\t_\t1:x\t_\n\n",
    b"( (S (NP-SBJ (DT a) (NN b)) (VP (VB c))))\n",
    b"(3;head=2;a=1 (1;N;a a) (2;V;b b))\n",
    b'<corpus><body><s id="s1"><graph root="s1_500"><terminals><t id="s1_1" word="a" pos="N"/></terminals><nonterminals>'
    b'<nt id="s1_500" cat="S"><edge label="HD" idref="s1_1"/></nt></nonterminals></graph></s></body></corpus>',
    b'<treealign><head><treebanks><treebank id="1" filename="a"/><treebank id="2" filename="b"/></treebanks></head><alignments>'
    b'<align type="good"><node treebank_id="1" node_id="s1_1"/><node treebank_id="2" node_id="s1_1"/></align></alignments></treealign>',
    b'{"source": "a", "target": "b"}\n',
    b"0-0 1-1-P\n",
    b"# Sentence pair (1) source length 1 target length 1 alignment score : 0.1\na\nNULL ({ }) b ({ 1 })\n",
    b"1 1 1 S\n",
    b'<tmx version="1.4"><header/><body><tu><tuv xml:lang="de"><seg>a</seg></tuv><tuv xml:lang="en"><seg>b</seg></tuv></tu></body></tmx>',
    b'msgid "a"\nmsgstr "b"\n',
    b"a\tb\n",
    b'[languages]\nsource = "zh"\ntarget = "en"\n',
]


def fuzz_one(name: str) -> None:
    """Never returns: atheris ends the process."""
    import atheris

    module, function, file_name = READERS[name]
    with atheris.instrument_imports(include=["treeglot"]):
        read: Callable[..., Any] = getattr(__import__(module, fromlist=[function]), function)
        from treeglot import TreeglotError
    path = Path(tempfile.mkdtemp()) / file_name

    def test(data: bytes) -> None:
        path.write_bytes(data)
        try:
            result = read(path, **OPTIONS.get(name, {}))
            if hasattr(result, "__next__"):
                for _ in result:
                    pass
        except TreeglotError as error:
            assert str(error)

    atheris.Setup([sys.argv[0], *sys.argv[sys.argv.index("--") + 1 :]], test)
    atheris.Fuzz()


def main() -> int:
    if "--" in sys.argv:
        fuzz_one(sys.argv[1])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    options = parser.parse_args()
    failed = []
    for name in options.readers or READERS:
        corpus = Path("fuzz-corpus") / name
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(SEEDS):
            (corpus / f"seed-{number}").write_bytes(seed)
        command = [sys.executable, __file__, name, "--", f"-max_total_time={options.seconds}", "-max_len=4096"]
        command += [f"-artifact_prefix={corpus}/crash-", "-verbosity=0", "-print_final_stats=1", str(corpus)]
        done = subprocess.run(command, capture_output=True, text=True)
        runs = [line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed_units" in line]
        print(f"{name}: {'fine' if done.returncode == 0 else 'FAILED'}, {runs[0] if runs else '?'} inputs", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
