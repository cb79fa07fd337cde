"""Parallel text: reading and writing it, cleaning, casing, tokenisation, splitting.

>>> from treeglot.bitext import TextPair, clean
>>> kept, report = clean([TextPair("a  house", "une maison"), TextPair("", "rien")])
>>> list(kept), report.dropped["empty"]
([TextPair(source='a house', target='une maison')], 1)
"""

from treeglot.bitext.casing import Truecaser, apply_casing, detruecase, lowercase
from treeglot.bitext.cleaning import CleaningOptions, CleaningReport, clean, counted_words
from treeglot.bitext.formats import FORMATS, BitextFormat, find_format, format_by_ending, read_bitext, write_bitext
from treeglot.bitext.jsonl import read_jsonl, write_jsonl
from treeglot.bitext.moses import read_moses, write_moses
from treeglot.bitext.pair import TextPair
from treeglot.bitext.plain import read_plain, write_plain
from treeglot.bitext.po import read_po, write_po
from treeglot.bitext.splitting import Split, SplitPlan, plan_split, split
from treeglot.bitext.statistics import BitextStats, SideStats, count_bitext
from treeglot.bitext.tabular import read_tsv, write_tsv
from treeglot.bitext.tmx import read_tmx, write_tmx
from treeglot.bitext.tokenization import Tokenizer, detokenize, tokenize

__all__ = [
    "FORMATS",
    "BitextFormat",
    "BitextStats",
    "CleaningOptions",
    "CleaningReport",
    "SideStats",
    "Split",
    "SplitPlan",
    "TextPair",
    "Tokenizer",
    "Truecaser",
    "apply_casing",
    "clean",
    "count_bitext",
    "counted_words",
    "detokenize",
    "detruecase",
    "find_format",
    "format_by_ending",
    "lowercase",
    "plan_split",
    "read_bitext",
    "read_jsonl",
    "read_moses",
    "read_plain",
    "read_po",
    "read_tmx",
    "read_tsv",
    "split",
    "tokenize",
    "write_bitext",
    "write_jsonl",
    "write_moses",
    "write_plain",
    "write_po",
    "write_tmx",
    "write_tsv",
]
