"""The frame of a page that explains a result: its head, and a style that follows the reader's choice of light or dark.

>>> page("Coverage & more", "<p>words</p>").splitlines()[-4:]
['<h1>Coverage &amp; more</h1>', '<p>words</p>', '</body>', '</html>']
"""

from __future__ import annotations

from html import escape

_STYLE = """\
:root { color-scheme: light dark; }
body { font-family: sans-serif; margin: 2em auto; padding: 0 1em; }
figure { margin: 1em 0; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid #8888; padding: 0.25em 0.6em; text-align: right; }
tbody th { text-align: left; font-weight: normal; }
"""


def page(title: str, body: str, *, width: str = "70em", style: str = "") -> str:
    """A page of HTML; ``body`` is what comes after its heading."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE}body {{ max-width: {width}; }}
{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
</body>
</html>
"""
