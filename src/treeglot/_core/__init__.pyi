from treeglot._core import conllu as conllu
from treeglot._core import lm as lm
