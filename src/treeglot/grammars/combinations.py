"""Systems of several grammars on one forest: presets that belong to no grammar alone.

Rules of all grammars compete and combine: what one has for a part of the sentence, another may use (spec: search and tuning,
"The translation forest").
"""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "best": {"grammars": ("consdep2str", "augmented", "phrases"), "decompose": "both"},
    "cons-hier": {"grammars": ("cons2str", "hierarchical")},
    "mwu-phrases": {"grammars": ("mwu", "phrases")},
    "mwu-hier": {"grammars": ("mwu", "hierarchical")},
    "mwu-cons": {"grammars": ("mwu", "consdep2str"), "decompose": "both"},
    "mwu-cons-hier": {"grammars": ("mwu", "consdep2str", "hierarchical"), "decompose": "both"},
    "stssg-phrases": {"grammars": ("stssg", "phrases"), "stack_limit": 50, "rule_limit": 20},
    "stssg-cons": {"grammars": ("stssg", "consdep2str"), "decompose": "both", "stack_limit": 50, "rule_limit": 20},
    "stssg-hier": {"grammars": ("stssg", "hierarchical"), "stack_limit": 50, "rule_limit": 20},
    "union": {"grammars": ("hierarchical", "consdep2str", "augmented", "phrases"), "decompose": "both"},
    "all": {"grammars": ("hierarchical", "cons2str", "consdep2str", "augmented", "phrases"), "decompose": "both"},
}
"""Systems that every project has beside those of single grammars."""

DEMO = ("phrases", "dep2str", "augmented", "consdep2str")
"""The systems that the demonstration compares: a baseline, and steps on the way to the last one, which it explains."""
