"""What is known before an aligner learns: a dictionary, links of some of the pairs, an aligner of other text, dependency trees.

>>> from treeglot.alignment.dictionary import Dictionary
>>> evidence = Evidence(dictionary=Dictionary([("haus", "house")]), links={0: {(0, 1)}, 2: set()})
>>> sorted(evidence.links), sorted(evidence.digests)
([0, 2], ['dictionary', 'known_links'])

Links in files are Pharaoh lines (`read_known_links`): an empty line says that nothing is known of the pair, which is aligned as any
other; ``-`` says that its links are known and that there are none.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "links"
>>> _ = path.write_text("0-0 1-1-P\\n\\n-\\n")
>>> links = read_known_links(path, ["das haus", "ein buch", "hm", "ja"], ["the house", "a book", "well now", "yes"])
>>> {pair: sorted(known) for pair, known in links.items()}
{0: [(0, 0), (1, 1)], 2: []}
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core.parsed import ParsedSentences
from treeglot.alignment.dictionary import Dictionary
from treeglot.errors import InputError
from treeglot.files import read_lines, type_path
from treeglot.trees.corpus import read_parsed_corpus
from treeglot.trees.wordlinks import parse_pharaoh
from treeglot.words import split_words

if TYPE_CHECKING:
    from treeglot.alignment.own import AgreementAligner

NO_LINKS = "-"
"""The line of a pair that is known to have no links."""


@dataclass(frozen=True)
class Evidence:
    """See the module. ``links``: of the pairs whose links are known, by the number of the pair, from 0. ``model`` was learnt from
    other text; ``model_digest`` stands for its files. ``source_heads`` and ``target_heads``: dependency trees of all sentences, the head of
    each word, -1 for none (`read_heads`)."""

    dictionary: Dictionary | None = None
    links: Mapping[int, set[tuple[int, int]]] = field(default_factory=dict)
    model: AgreementAligner | None = None
    model_digest: str = ""
    source_heads: Sequence[Sequence[int]] | None = None
    target_heads: Sequence[Sequence[int]] | None = None

    @property
    def digests(self) -> dict[str, str]:
        """What tells this evidence from other one: a name and a digest for each kind that is there."""
        result = {}
        if self.dictionary is not None:
            result["dictionary"] = _digest("\n".join("\t".join(entry) for entry in self.dictionary.entries))
        if self.links:
            result["known_links"] = _digest(repr([(pair, sorted(links)) for pair, links in sorted(self.links.items())]))
        if self.model is not None:
            result["prior_model"] = self.model_digest
        for name, heads in (("source_conllu", self.source_heads), ("target_conllu", self.target_heads)):
            if heads is not None:
                result[name] = _digest("\n".join(" ".join(map(str, sentence)) for sentence in heads))
        return result


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def digest_of_model(folder: Path) -> str:
    """Of what ``aligner.json`` says, which has the checksums of the model's files."""
    return hashlib.blake2b((folder / "aligner.json").read_bytes(), digest_size=16).hexdigest()


def read_heads(path: type_path, lines: Sequence[str]) -> list[tuple[int, ...]]:
    """The heads of the words of these lines, from the trees of a CoNLL-U file, made projective; a sentence without a tree has none.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trees"
    >>> rows = "1\\tdas\\t_\\t_\\t_\\t_\\t2\\tdet\\t_\\t_", "2\\thaus\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_"
    >>> _ = path.write_text("\\n".join([*rows, "", ""]))
    >>> read_heads(path, ["das haus"])
    [(1, -1)]
    """
    trees = read_parsed_corpus(path)
    if len(trees) != len(lines):
        raise InputError(
            f"{len(trees):,} sentences, but there are {len(lines):,} lines of text",
            path=path,
            line=1,
            remedy="parse this text: treeglot parse --tokenized",
        )
    return heads_of(trees.columns, lines, path)


def heads_of(trees: ParsedSentences, lines: Sequence[str], path: type_path) -> list[tuple[int, ...]]:
    """The heads of parsed sentences that have as many words as these lines."""
    result = []
    for number, line in enumerate(lines):
        columns = trees.sentence(number)
        words, heads = columns[0], columns[2]
        size = len(split_words(line))
        if len(words) != size:
            raise InputError(
                f"sentence {number + 1} has {len(words)} words in its tree and {size} in the text",
                path=path,
                line=1,
                remedy="parse this text: treeglot parse --tokenized",
            )
        result.append(tuple(heads) or (-1,) * size)
    return result


def read_known_links(path: type_path, source: Sequence[str], target: Sequence[str]) -> dict[int, set[tuple[int, int]]]:
    """The known links of these sentence pairs. Nothing is known of pairs beyond the last line.

    A possible link (``3-4-P``) counts where neither of its words has a sure one."""
    result: dict[int, set[tuple[int, int]]] = {}
    for number, line in read_lines(path):
        words = split_words(line)
        if number > len(source):
            raise InputError(
                f"more lines than the {len(source):,} sentence pairs",
                path=path,
                line=number,
                remedy="give a line for each pair, the first ones suffice",
            )
        if not words:
            continue
        sizes = len(split_words(source[number - 1])), len(split_words(target[number - 1]))
        links = () if words == [NO_LINKS] else parse_pharaoh(line, lengths=sizes, path=path, line=number)
        sure = {(link.source, link.target) for link in links if link.kind == "good"}
        linked = {s for s, _ in sure}, {t for _, t in sure}
        possible = {(link.source, link.target) for link in links if link.kind != "good"}
        result[number - 1] = sure | {(s, t) for s, t in possible if s not in linked[0] and t not in linked[1]}
    if not result:
        raise InputError(
            "no pair with known links", path=path, line=1, remedy="write links as 0-0 1-2, or - for a pair without any"
        )
    return result
