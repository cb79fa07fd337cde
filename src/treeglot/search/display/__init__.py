"""Looking at derivations: why a translation is as it is, as text, SVG, HTML and JSON, for every system.

`derivation_text`, `derivation_svg`, `page` and `to_record` take the derivation of a translation as every decoder gives it;
`trees_text` has the trees of both sides, if the rules have trees of the target.

>>> from treeglot.search import RuleUse
>>> print(derivation_text(RuleUse("phrases", 0, 1, "狗", ("dogs",))))
1 0-1 phrases  狗 → dogs
"""

from treeglot.search.display.html import Explained, page
from treeglot.search.display.steps import Step, list_steps, to_record
from treeglot.search.display.svg import derivation_svg
from treeglot.search.display.text import derivation_text, trees_text

__all__ = ["Explained", "Step", "derivation_svg", "derivation_text", "list_steps", "page", "to_record", "trees_text"]
