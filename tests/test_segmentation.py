"""Words of languages without blanks: the right segmenter by default, the same words everywhere, and none lost."""

from __future__ import annotations

import importlib.util
import marshal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import ConfigError
from treeglot.bitext import Tokenizer, detokenize, tokenize
from treeglot.bitext.segmenters import SEGMENTERS, default_method, load_segmenter
from treeglot.languages import NAMES

ROOT = Path(__file__).parents[1]


def test_every_language_gets_what_fits_it() -> None:
    without = {"zh": "jieba", "zh-Hant-TW": "jieba", "cmn": "jieba", "yue": "jieba", "ja": "fugashi", "th": "pythainlp"}
    without |= dict.fromkeys(("lo", "km", "my", "bo", "dz"), "char")
    assert {lang: default_method(lang) for lang in without} == without
    assert {default_method(lang) for lang in NAMES if lang not in without} == {"moses"}


def test_words_of_chinese() -> None:
    words = tokenize("一个穿着蓝色T恤的男人在New York吃饭。", "zh")
    assert words == ["一个", "穿着", "蓝色", "T恤", "的", "男人", "在", "New", "York", "吃饭", "。"]
    assert detokenize(words, "zh") == "一个穿着蓝色T恤的男人在New York吃饭。"
    # Blanks that are there stay ends of words, and what is not Chinese between them is for Moses.
    assert tokenize("北京 大学 (isn't far), 3.5%", "zh") == [
        *("北京", "大学", "(", "isn", "'", "t", "far", ")", ",", "3.5", "%")
    ]


def test_words_of_japanese_and_thai() -> None:
    assert tokenize("私は東京に住んでいます。", "ja") == ["私", "は", "東京", "に", "住ん", "で", "い", "ます", "。"]
    assert tokenize("ฉันรักแมวที่บ้าน", "th") == ["ฉัน", "รัก", "แมว", "ที่", "บ้าน"]
    assert detokenize(["ฉัน", "รัก", "แมว"], "th") == "ฉันรักแมว"


def test_the_words_of_ginza_without_its_parser() -> None:
    pytest.importorskip("sudachipy", reason="pip install 'treeglot[japanese]' brings Sudachi")
    assert Tokenizer("ja", method="sudachi").tokenize("国会議事堂前駅で会う。") == [
        "国会議事堂前駅",
        "で",
        "会う",
        "。",
    ]


def test_characters_keep_their_marks() -> None:
    assert tokenize("บ้านที่", "th", method="char") == ["บ้า", "น", "ที่"]
    assert tokenize("ខ្ញុំស្រលាញ់", "km") == ["ខ្ញុំ", "ស្រ", "លា", "ញ់"]
    assert tokenize("བོད་ཡིག་ནི།", "bo") == ["བོད་", "ཡིག་", "ནི", "།"]


SAMPLES = {
    "zh": "我们明天去北京大学。Ｔ恤 iPhone6 3.5% don't http://a.org （好）\u3000\u00a0",
    "ja": "私は東京に住んでいます。カタカナ OK 3.5% don't （良い）\u3000",
    "th": "ฉันรักแมวที่บ้านประเทศไทยๆ 3.5% don't (ดี)",
    "km": "ខ្ញុំស្រលាញ់ឆ្មា៕ 3.5% don't",
    "bo": "བོད་ཡིག་ནི། 3.5% don't",
}


@pytest.mark.parametrize("lang", SAMPLES)
@given(data=st.data())
def test_no_character_is_lost_and_no_word_has_a_blank(lang: str, data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from(SAMPLES[lang]), max_size=60))
    for method in ("auto", "char", *(name for name, segmenter in SEGMENTERS.items() if segmenter.lang == lang)):
        if method in SEGMENTERS and not SEGMENTERS[method].is_installed:
            continue
        words = Tokenizer(lang, method=method).tokenize(text)  # type: ignore[arg-type]
        assert "".join(words) == "".join(text.split()), method
        assert all(words) and not any(len(word.split()) != 1 for word in words)
        assert "".join(detokenize(words, lang).split()) == "".join(words)


def test_jieba_takes_no_dictionary_from_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "我们明天去北京大学"
    expected = list(load_segmenter("jieba")(text))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    poisoned = tmp_path / "jieba.cache"
    poisoned.write_bytes(marshal.dumps(({"我们明天": 10**9, "我们明": 0, "我们": 1, "我": 1}, 10**9)))
    before = poisoned.read_bytes()
    assert list(SEGMENTERS["jieba"].load()(text)) == expected == ["我们", "明天", "去", "北京大学"]
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"] and poisoned.read_bytes() == before


def test_the_same_words_in_every_process_and_nothing_on_standard_error(tmp_path: Path) -> None:
    lines = "一个穿着蓝色衣服的男人在吃饭\n王小明和李雷去了哈尔滨\n"
    program = "import sys; from treeglot.bitext import tokenize\nfor line in sys.stdin: print(*tokenize(line, 'zh'))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=lines,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": seed, "TMPDIR": str(tmp_path), "PYTHONUTF8": "1"},
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout and runs[0].stdout.startswith("一个 穿着 蓝色")
    assert runs[0].stderr == runs[1].stderr == ""
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named_when_the_first_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    load_segmenter.cache_clear()
    monkeypatch.setitem(sys.modules, "jieba", None)
    tokenizer = Tokenizer("zh")  # a project whose parser makes the words does not need it
    with pytest.raises(ConfigError, match="jieba for Chinese is not installed") as caught:
        tokenizer.tokenize("我们")
    assert "pip install 'treeglot[chinese]'" in caught.value.remedy and '"char"' in caught.value.remedy


def test_a_segmenter_of_another_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="jieba segments Chinese, not en"):
        Tokenizer("en", method="jieba")


def test_every_extra_is_declared() -> None:
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    for segmenter in SEGMENTERS.values():
        assert segmenter.extra in extras, segmenter.name
        assert segmenter.is_installed == all(importlib.util.find_spec(name) for name in segmenter.modules)
