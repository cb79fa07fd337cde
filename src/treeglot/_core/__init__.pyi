from treeglot._core import conllu as conllu
