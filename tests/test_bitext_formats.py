"""Every format of parallel text: worked examples, and what is written reads back the same."""

from __future__ import annotations

import gettext
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import ConfigError, TreeglotError
from treeglot.bitext import (
    FORMATS,
    TextPair,
    find_format,
    read_bitext,
    read_jsonl,
    read_moses,
    read_plain,
    read_po,
    read_tmx,
    read_tsv,
    write_bitext,
    write_jsonl,
    write_moses,
    write_plain,
    write_po,
    write_tmx,
    write_tsv,
)
from treeglot.bitext.languages import match_rank
from treeglot.bitext.moses import escape, unescape

# Anything but halves of surrogate pairs; a byte-order mark opening a file is not text, so no text begins with one.
unicode_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda text: not text.startswith("\ufeff")
)
line_text = unicode_text.map(lambda text: re.sub(r"[\r\n]", "", text))
xml_text = unicode_text.map(lambda text: re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text))
names = st.text("abcdefgh", min_size=1, max_size=4)


def pairs_of(texts: st.SearchStrategy[str], metadata: bool = False) -> st.SearchStrategy[list[TextPair]]:
    about = st.dictionaries(names, texts, max_size=3).map(lambda entries: tuple(entries.items()))
    pair = (
        st.builds(TextPair, texts, texts, id=texts, metadata=about) if metadata else st.builds(TextPair, texts, texts)
    )
    return st.lists(pair, max_size=6)


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_plain_round_trip(packing: str, tmp_path: Path) -> None:
    pairs = [TextPair("a", "x"), TextPair("", ""), TextPair("b\u2028c", "日本")]
    source, target = tmp_path / f"a.en{packing}", tmp_path / f"a.fr{packing}"
    assert write_plain(pairs, source, target) == 3
    assert list(read_plain(source, target)) == pairs
    assert [pair.line for pair in read_plain(source, target)] == [1, 2, 3]
    before = source.read_bytes()
    write_plain(pairs, source, target)
    assert source.read_bytes() == before


@settings(deadline=None)
@given(pairs_of(line_text))
def test_plain_and_moses_round_trip(pairs: list[TextPair]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "a.en", Path(folder) / "a.fr"
        for write, read in ((write_plain, read_plain), (write_moses, read_moses)):
            assert write(pairs, *paths) == len(pairs)
            assert list(read(*paths)) == pairs


@settings(deadline=None)
@given(pairs_of(line_text.map(lambda text: text.replace("\t", ""))))
def test_tsv_round_trip(pairs: list[TextPair]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.tsv"
        write_tsv(pairs, path)
        assert list(read_tsv(path)) == pairs


@settings(deadline=None)
@given(pairs_of(unicode_text, metadata=True), st.booleans())
def test_jsonl_round_trip(pairs: list[TextPair], nested: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        write_jsonl(pairs, path, translation_field="translation" if nested else "", source_lang="en", target_lang="fr")
        assert list(read_jsonl(path, source_lang="en", target_lang="fr")) == pairs


@settings(deadline=None)
@given(pairs_of(xml_text, metadata=True))
def test_tmx_round_trip(pairs: list[TextPair]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.tmx"
        write_tmx(pairs, path, source_lang="en", target_lang="fr")
        assert list(read_tmx(path, source_lang="en", target_lang="fr")) == pairs


@settings(deadline=None)
@given(pairs_of(unicode_text, metadata=False), st.lists(st.one_of(st.none(), unicode_text), min_size=6, max_size=6))
def test_po_round_trip(pairs: list[TextPair], contexts: list[str | None]) -> None:
    unique: dict[tuple[str, str | None], TextPair] = {}
    for pair, context in zip(pairs, contexts, strict=False):
        if pair.source and pair.target:
            metadata = () if context is None else (("context", context),)
            unique.setdefault((pair.source, context), TextPair(pair.source, pair.target, metadata=metadata))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.po"
        write_po(unique.values(), path, target_lang="fr")
        assert list(read_po(path)) == list(unique.values())


@settings(deadline=None)
@given(unicode_text)
def test_moses_escapes_undo_each_other(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not set("|<>'\"[]") & set(escape(text))


def test_moses_agrees_with_sacremoses() -> None:
    import sacremoses

    text = "R&D | <b> 'it' \"x\" [1] &amp; &lt;"
    assert escape(text) == sacremoses.MosesTokenizer("en").escape_xml(text)
    coded = "&bar; &#124; &lt; &gt; &bra; &ket; &quot; &apos; &#91; &#93; &amp; &nbsp;"
    assert unescape(coded) == sacremoses.MosesDetokenizer("en").unescape_xml(coded)


def test_moses_markup_is_stripped_on_request_and_comparisons_are_text(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text('the <n translation="x">small</n> house\na < b and c > d\n')
    target.write_text("x\ny &amp;lt;\n")
    assert list(read_moses(source, target, markup="strip")) == [
        TextPair("the small house", "x"),
        TextPair("a < b and c > d", "y &lt;"),
    ]


def test_line_formats_turn_breaks_into_spaces_and_refuse_nul(tmp_path: Path) -> None:
    write_plain([TextPair("a\r\nb", "c\rd")], tmp_path / "a", tmp_path / "b")
    assert list(read_plain(tmp_path / "a", tmp_path / "b")) == [TextPair("a b", "c d")]
    write_tsv([TextPair("a\tb", "c\nd")], tmp_path / "t")
    assert list(read_tsv(tmp_path / "t")) == [TextPair("a b", "c d")]
    with pytest.raises(TreeglotError, match="NUL"):
        write_plain([TextPair("a", "x"), TextPair("a\0", "x")], tmp_path / "n", tmp_path / "m")
    assert not (tmp_path / "n").exists() and not (tmp_path / "m").exists()


def test_tsv_columns_names_and_header(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\ten\tzh\tby\n7\tHi.\t嗨。\tCM\n8\tRun.\t跑。\n", encoding="utf-8")
    assert list(read_tsv(path, columns=(3, 2), id_column=1, header=True)) == [
        TextPair("嗨。", "Hi.", "7", metadata=(("by", "CM"),)),
        TextPair("跑。", "Run.", "8"),
    ]
    write_tsv(read_tsv(path, columns=(3, 2), header=True), path, extra=["by"])
    assert path.read_text(encoding="utf-8") == "嗨。\tHi.\tCM\n跑。\tRun.\t\n"
    with pytest.raises(ConfigError, match="impossible columns"):
        list(read_tsv(path, columns=(0, 1)))


TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US"><prop type="h">ignored</prop><note>ignored</note></header><body>
<tu tuid="1"><note>greeting</note><prop type="domain">web</prop><prop type="domain">ui</prop>
  <tuv xml:lang="en-GB"><seg>colour</seg></tuv><tuv xml:lang="EN_us"><prop type="p">q</prop><seg>color</seg></tuv>
  <tuv lang="fr-FR"><seg>couleur</seg></tuv><tuv xml:lang="fr-FR"><seg>teinte</seg></tuv>
  <tuv xml:lang="fr-CA"><seg>couleur (CA)</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Click <bpt i="1" x="1">&lt;b></bpt><hi>here &amp; now</hi><ept i="1">&lt;/b></ept><ph>{<sub>alt</sub>}</ph>.</seg></tuv>
  <tuv xml:lang="fr"><seg><it pos="begin"/>Cliquez<ut>x</ut> <![CDATA[<ici>]]></seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>only English</seg></tuv></tu>
</body></tmx>
"""


def test_tmx_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_text(TMX)
    skipped: Counter[str] = Counter()
    about = (("note", "greeting"), ("domain", "web\nui"))
    assert list(read_tmx(path, source_lang="en", target_lang="fr", skipped=skipped)) == [
        TextPair("colour", "couleur", "1", metadata=about),
        TextPair("Click here & now.", "Cliquez <ici>"),
    ]
    assert skipped == {"no fr": 1}
    first = next(read_tmx(path, source_lang="en-us", target_lang="fr-CA"))
    assert (first.source, first.target, first.line) == ("color", "couleur (CA)", 4)
    several = read_tmx(path, source_lang="en-US", target_lang="fr-FR", several="all")
    assert [pair.target for pair in several][:2] == ["couleur", "teinte"]


def test_tmx_inline_tags_can_be_kept_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_text(TMX)
    kept = list(read_tmx(path, source_lang="en", target_lang="fr", inline="keep"))
    assert kept[1].source == (
        'Click <bpt i="1" x="1">&lt;b&gt;</bpt><hi>here &amp; now</hi><ept i="1">&lt;/b&gt;</ept>'
        "<ph>{<sub>alt</sub>}</ph>."
    )
    assert kept[1].target == '<it pos="begin"/>Cliquez<ut>x</ut> &lt;ici&gt;'
    write_tmx(kept, path, source_lang="en", target_lang="fr", inline="keep")
    assert list(read_tmx(path, source_lang="en", target_lang="fr", inline="keep")) == kept
    assert [p.source for p in read_tmx(path, source_lang="en", target_lang="fr")][1] == "Click here & now."
    nested = TextPair("<hi><hi/></hi><ph>a<ph/></ph>", "<hi>x<it/></hi>")
    write_tmx([nested], path, source_lang="en", target_lang="fr", inline="keep")
    assert list(read_tmx(path, source_lang="en", target_lang="fr", inline="keep")) == [nested]
    for bad in ("a < b", "</seg><seg>", "<br/>"):
        with pytest.raises(TreeglotError, match=r"XML|inline"):
            write_tmx([TextPair(bad, "x")], path, source_lang="en", target_lang="fr", inline="keep")


def test_tmx_in_utf16_and_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_bytes(TMX.replace('version="1.0"', 'version="1.0" encoding="UTF-16"', 1).encode("utf-16"))
    assert next(read_tmx(path, source_lang="en", target_lang="fr")).target == "couleur"
    with pytest.raises(TreeglotError, match=r"U\+0001.* in pair 1"):
        write_tmx([TextPair("a\1", "x")], path, source_lang="en", target_lang="fr")


def test_tmx_is_what_the_standard_library_reads(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    path = tmp_path / "a.tmx"
    write_tmx([TextPair("a & <b>", "x\ny", id='"1"')], path, source_lang="en", target_lang="zh-TW")
    root = ElementTree.parse(path).getroot()
    assert [seg.text for seg in root.iter("seg")] == ["a & <b>", "x\ny"]
    assert [unit.get("tuid") for unit in root.iter("tu")] == ['"1"']
    languages = [tuv.get("{http://www.w3.org/XML/1998/namespace}lang") for tuv in root.iter("tuv")]
    assert languages == ["en", "zh-TW"]


@settings(deadline=None)
@given(names, names, names)
def test_language_rule(language: str, region: str, other: str) -> None:
    assert match_rank(language, language.upper()) == 0
    assert match_rank(language, f"{language}_{region}") == 1
    assert match_rank(f"{language}-{region}", language) == 2
    if region != other:
        assert match_rank(f"{language}-{region}", f"{language}-{other}") is None
        assert match_rank(region, other) is None


PO = r"""# Header
#, fuzzy
msgid ""
msgstr ""
"Language: fr\n"
"Content-Type: text/plain; charset=UTF-8\n"

#. extracted
#: src/a.c:1
#, c-format
#| msgid "previous"
msgctxt "menu"
msgid "Open %s\t"
msgstr "Ouvrir %s\t"
msgid "Open %s\t"
msgstr ""
"Ouvrir \"%s\"\\\n"
"\x41\101"

#, c-format, fuzzy
msgid "guess"
msgstr "devine"

msgid "not yet"
msgstr ""

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d fichier"
msgstr[1] "%d fichiers"
#~ msgid "old"
#~ msgstr "vieux"
"""


def test_po_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    path.write_text(PO)
    skipped: Counter[str] = Counter()
    assert list(read_po(path, skipped=skipped)) == [
        TextPair("Open %s\t", "Ouvrir %s\t", metadata=(("context", "menu"),)),
        TextPair("Open %s\t", 'Ouvrir "%s"\\\nAA'),
        TextPair("%d file", "%d fichier", metadata=(("plural", "0"),)),
        TextPair("%d files", "%d fichiers", metadata=(("plural", "1"),)),
    ]
    assert skipped == {"fuzzy": 1, "untranslated": 1, "obsolete": 1}
    everything = list(read_po(path, fuzzy=True, obsolete=True, untranslated=True, plurals="skip"))
    assert [pair.source for pair in everything] == ["Open %s\t", "Open %s\t", "guess", "not yet", "old"]
    assert [pair.line for pair in everything] == [12, 15, 21, 24, 31]


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext's msgfmt is not installed")
def test_po_agrees_with_gettext(tmp_path: Path) -> None:
    def compile_with_gettext(path: Path) -> dict[str, str]:
        """What msgfmt makes of a file, read by the standard library: context and message joined by U+0004."""
        subprocess.run(["msgfmt", "-o", tmp_path / "a.mo", path], check=True)
        with (tmp_path / "a.mo").open("rb") as compiled:
            catalogue = dict(gettext.GNUTranslations(compiled)._catalog)  # type: ignore[attr-defined]
        catalogue.pop("")
        return {key if isinstance(key, str) else f"{key[0]}#{key[1]}": text for key, text in catalogue.items()}

    def key_of(pair: TextPair) -> str:
        return "\4".join(value for value in (dict(pair.metadata).get("context"), pair.source) if value is not None)

    (tmp_path / "hand.po").write_text(PO)
    theirs = compile_with_gettext(tmp_path / "hand.po")
    singular = {key_of(pair): pair.target for pair in read_po(tmp_path / "hand.po", plurals="skip")}
    assert singular == {key: text for key, text in theirs.items() if "#" not in key}
    assert {text for key, text in theirs.items() if "#" in key} == {"%d fichier", "%d fichiers"}
    hard = ["a", '"\\"', "x\ny\n", "\n", "\t\r\a\b\f\v\x01\x1b\x7f1", "\\n", "é我\U0001f600", "#", " "]
    pairs = [TextPair(text, text * 2, metadata=(("context", text),) if n % 2 else ()) for n, text in enumerate(hard)]
    write_po(pairs, tmp_path / "ours.po", target_lang="fr")
    assert compile_with_gettext(tmp_path / "ours.po") == {key_of(pair): pair.target for pair in pairs}


def test_po_with_one_plural_form_takes_the_plural(tmp_path: Path) -> None:
    path = tmp_path / "zh.po"
    path.write_text('msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d 个文件"\n', encoding="utf-8")
    assert [(pair.source, pair.target) for pair in read_po(path)] == [("%d files", "%d 个文件")]


def test_po_cannot_hold_everything(tmp_path: Path) -> None:
    path = tmp_path / "a.po"
    with pytest.raises(TreeglotError, match="pair 1 has an empty source"):
        write_po([TextPair("", "x")], path)
    with pytest.raises(TreeglotError, match="pair 2 translates 'a' a second time"):
        write_po([TextPair("a", "x"), TextPair("a", "y")], path)
    assert not path.exists()
    assert write_po([TextPair("a", "x"), TextPair("a", "x")], path) == 1


def test_jsonl_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"en": "a", "fr": "x", "n": 3, "key": "k", "more": [1, {"z": null}]}\n\n')
    assert list(read_jsonl(path, source_field="en", target_field="fr", id_field="key")) == [
        TextPair("a", "x", "k", metadata=(("n", "3"), ("more", '[1,{"z":null}]')))
    ]
    with pytest.raises(TreeglotError, match="would overwrite"):
        write_jsonl([TextPair("a", "x", metadata=(("source", "s"),))], path)


def test_formats_are_found_by_ending_name_and_number_of_files() -> None:
    assert find_format(["A.TMX.gz"]).name == "tmx"
    assert find_format(["a.po"]).name == "po"
    assert find_format(["a.jsonl.zst"]).name == "jsonl"
    assert find_format(["a.txt"], "tsv").name == "tsv"
    assert find_format(["a.en", "a.fr"]).name == "plain"
    with pytest.raises(ConfigError, match="not clear"):
        find_format(["a.txt"])
    with pytest.raises(ConfigError, match="did you mean jsonl"):
        find_format(["a"], "json")
    with pytest.raises(ConfigError, match="takes 2 files, not 1"):
        find_format(["a"], "moses")
    with pytest.raises(ConfigError, match="takes 1 file, not 2"):
        find_format(["a", "b"], "tmx")
    with pytest.raises(ConfigError, match="no option 'fuzy'"):
        read_bitext("a.po", fuzy=True)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(names, names), min_size=1, max_size=5, unique_by=lambda pair: pair[0]))
def test_all_formats_hold_the_same_corpus(texts: list[tuple[str, str]]) -> None:
    pairs = [TextPair(*pair) for pair in texts]
    with tempfile.TemporaryDirectory() as folder:
        for name, item in FORMATS.items():
            paths = [Path(folder) / f"{name}.{number}.gz" for number in range(item.files)]
            assert write_bitext(pairs, *paths, format=name, source_lang="en", target_lang="fr") == len(pairs)
            assert list(read_bitext(*paths, format=name, source_lang="en", target_lang="fr")) == pairs


@pytest.mark.parametrize("name", FORMATS)
def test_half_a_surrogate_pair_is_refused_by_every_writer(name: str, tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(FORMATS[name].files)]
    with pytest.raises(TreeglotError):
        write_bitext([TextPair("a\ud800", "x")], *paths, format=name, source_lang="en", target_lang="fr")
    assert not list(tmp_path.iterdir())


def test_two_sides_cannot_share_a_stream(tmp_path: Path) -> None:
    with pytest.raises(TreeglotError, match="standard input"):
        list(read_plain("-", "-"))
    with pytest.raises(TreeglotError, match="one file"):
        write_plain([], tmp_path / "a", tmp_path / "a")
