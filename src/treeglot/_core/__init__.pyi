from treeglot._core import align as align
from treeglot._core import conllu as conllu
from treeglot._core import kernels as kernels
from treeglot._core import lm as lm
from treeglot._core import search as search
from treeglot._core import subtrees as subtrees
from treeglot._core import tables as tables
from treeglot._core import tuning as tuning
