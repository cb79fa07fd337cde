"""Whatever bytes come, the readers of parallel text answer with pairs or with a `TreeglotError`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot import TreeglotError
from treeglot.bitext import (
    Truecaser,
    clean,
    read_jsonl,
    read_moses,
    read_plain,
    read_po,
    read_tmx,
    read_tsv,
)

# For each reader a sound file, to be damaged, and pieces that mean something to it.
READERS: dict[str, tuple[Callable[[Path], Any], bytes, list[bytes]]] = {
    "plain": (lambda path: read_plain(path, path), b"a\nb c\n", [b"\r", b"\xef\xbb\xbf"]),
    "plain.gz": (lambda path: read_plain(path, path), b"\x1f\x8b\x08\0\0\0\0\0\0\3KL\xe2\2\0", [b"\x1f\x8b"]),
    "plain.zst": (lambda path: read_plain(path, path), b"(\xb5/\xfd \x02\x11\0\0a\n", [b"(\xb5/\xfd"]),
    "moses": (lambda path: read_moses(path, path), b"a &amp; b\n", [b"<x>", b"&lt;", b"&#124;"]),
    "tsv": (lambda path: read_tsv(path, header=True, id_column=3), b"a\tb\tc\n1\t2\t3\n", [b"\t"]),
    "jsonl": (
        lambda path: read_jsonl(path, source_lang="en", target_lang="fr"),
        b'{"source": "a", "target": "b", "n": 1}\n{"translation": {"en": "a", "fr": "b"}}\n',
        [b"{", b"[", b'"', b"\\ud800", b"\\u0000", b"1e999", b"null", b":", b","],
    ),
    "tmx": (
        lambda path: read_tmx(path, source_lang="en", target_lang="fr", inline="keep", several="all"),
        b'<tmx><header/><body><tu tuid="1"><note>n</note><tuv xml:lang="en"><seg>a<ph>x</ph></seg></tuv>'
        b'<tuv lang="fr-FR"><seg>b<hi/></seg></tuv></tu></body></tmx>',
        [b"<tu>", b"</tu>", b"<tuv>", b"</tuv>", b"<seg>", b"</seg>", b"<ph>", b"</ph>", b"<prop>", b"</prop>", b"&a;"],
    ),
    "po": (
        lambda path: read_po(path, fuzzy=True, obsolete=True, untranslated=True),
        b'#, fuzzy\nmsgctxt "c"\nmsgid "a"\nmsgid_plural "as"\nmsgstr[0] "b\\n"\n"c"\nmsgstr[1] ""\n#~ msgid "o"\n#~ msgstr "p"\n',
        [b"msgid", b"msgstr", b'"', b"\\", b"#~ ", b"#, fuzzy\n", b"\n", b"[1]", b'msgid ""\n', b'msgctxt "x"\n'],
    ),
    "truecaser": (Truecaser.load, b"the (2/3) The (1)\na (1/1)\n", [b"(1/1)", b"(9)", b" ", b"\n", "İ".encode()]),
}


@pytest.mark.parametrize("name", READERS)
@settings(deadline=None, max_examples=tries(150))
@given(data=st.data())
def test_only_treeglot_errors(name: str, data: st.DataObject) -> None:
    read, sound, pieces = READERS[name]
    if data.draw(st.booleans()):
        content = sound
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(content)))
            end = min(len(content), place + data.draw(st.integers(0, 8)))
            content = content[:place] + data.draw(st.sampled_from(pieces) | st.binary(max_size=3)) + content[end:]
    else:
        content = b"".join(data.draw(st.lists(st.sampled_from(pieces) | st.binary(max_size=4), max_size=12)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{name}"
        path.write_bytes(content)
        try:
            result = read(path)
            if isinstance(result, Iterable):
                for pair in clean(result)[0]:
                    assert isinstance(pair.source, str) and isinstance(pair.target, str)
        except TreeglotError as error:
            assert error.path is not None and error.line is not None and error.remedy
