"""treeglot: translation learnt from parallel text and two kinds of syntax trees.

The rooms, in the order in which data flows:

* `treeglot.bitext`: parallel text, its files, cleaning, casing, tokenisation;
* `treeglot.trees`: dependency and constituency trees, their files, conversions and pictures;
* `treeglot.parsers`: text to trees; `treeglot.examples`: an embedded corpus with gold trees;
* `treeglot.alignment`: links between words, and between the nodes of two trees;
* `treeglot.grammars`: what a rule is, one module a model; `treeglot.tables`: rules counted, scored and stored;
* `treeglot.lm`: language models; `treeglot.search`: decoders; `treeglot.tuning`: their weights; `treeglot.evaluation`: scores;
* `treeglot.pipeline`: a project folder, from its data to a tuned translator; `treeglot.cli`: the command line.

`treeglot.errors`, `treeglot.files`, `treeglot.progress` and `treeglot.words` serve all of them.
"""

from importlib.metadata import PackageNotFoundError, version

from treeglot.errors import ConfigError, InputError, ParserError, TreeError, TreeglotError

try:
    __version__ = version("treeglot")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["ConfigError", "InputError", "ParserError", "TreeError", "TreeglotError", "__version__"]
