"""Looking at derivations: why a translation is as it is, as text, SVG, HTML and JSON, for every decoder.

`derivation_text`, `derivation_svg` and `page` take the derivation of a translation: a tree of rule uses as the tree decoder gives
it, or `phrase_derivation` of what the phrase-based decoder gives.

>>> from treeglot.search.display import PhraseNode, derivation_text
>>> print(derivation_text(PhraseNode("phrases", 0, 1, "狗", "dogs", ("dogs",))))
1 0-1 phrases  狗 → dogs
"""

from treeglot.search.display.html import Explained, page
from treeglot.search.display.readable import readable
from treeglot.search.display.steps import PhraseNode, Step, Use, list_steps, phrase_derivation, to_record
from treeglot.search.display.svg import derivation_svg
from treeglot.search.display.text import derivation_text

__all__ = [
    "Explained",
    "PhraseNode",
    "Step",
    "Use",
    "derivation_svg",
    "derivation_text",
    "list_steps",
    "page",
    "phrase_derivation",
    "readable",
    "to_record",
]
