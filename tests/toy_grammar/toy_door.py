"""The Python half of the toy grammar: its presets."""

PRESETS = {"toy": {"grammars": ("toy",)}, "toy-plain": {"grammars": ("toy",), "gaps": False}}
