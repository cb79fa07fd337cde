"""The embedded example: Chinese-English travel and news sentences with gold trees and links, made by a grammar of ours.

It needs no parser and no network. `splits` gives the corpus, `generate` as many pairs as you like, `write_example` puts
it on disk, `worked_example` is the one sentence that all of the documentation uses. `Grammar`, `parse_rules` and
`parse_lexicon` let you write your own.

>>> from treeglot.examples import generate
>>> pair = next(generate(1, seed=7))
>>> pair.source.dependency is not None and pair.target.constituency is not None
True
"""

from treeglot.examples.corpus import Sizes, Splits, generate, is_long, is_ordinary, nesting, splits
from treeglot.examples.files import write_example
from treeglot.examples.grammar import Grammar, load_grammar
from treeglot.examples.lexicon import Entry, Lexicon, load_lexicon, parse_lexicon
from treeglot.examples.notation import Rule, parse_rules
from treeglot.examples.worked import worked_example

__all__ = [
    "Entry",
    "Grammar",
    "Lexicon",
    "Rule",
    "Sizes",
    "Splits",
    "generate",
    "is_long",
    "is_ordinary",
    "load_grammar",
    "load_lexicon",
    "nesting",
    "parse_lexicon",
    "parse_rules",
    "splits",
    "worked_example",
    "write_example",
]
