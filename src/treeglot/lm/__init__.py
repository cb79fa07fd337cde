"""n-gram language models: estimate (`estimate`), compile and query (`LanguageModel`)."""

from treeglot.lm.estimate import Estimate, estimate
from treeglot.lm.model import LanguageModel, compile_model, open_model

__all__ = ["Estimate", "LanguageModel", "compile_model", "estimate", "open_model"]
