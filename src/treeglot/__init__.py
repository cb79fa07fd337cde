"""treeglot: translation learnt from parallel text and two kinds of syntax trees.

The rooms, in the order in which data flows: `treeglot.bitext` (parallel text), `treeglot.trees` (the trees and their
files), `treeglot.parsers` (text to trees) and `treeglot.examples` (an embedded corpus with gold trees).
"""

from importlib.metadata import PackageNotFoundError, version

from treeglot.errors import ConfigError, InputError, ParserError, TreeError, TreeglotError

try:
    __version__ = version("treeglot")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["ConfigError", "InputError", "ParserError", "TreeError", "TreeglotError", "__version__"]
