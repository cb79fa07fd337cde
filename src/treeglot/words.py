"""What a word of a line is: the one definition, here and in the core (`for_each_word` in cpp/base/words.hh).

Blanks, tabs, carriage returns and line feeds separate words; all other white space, such as the no-break space of ``10 000`` or
the ideographic one, is part of a word. `str.split` would cut there, so text that is tokenised is never cut by it.

>>> split_words(" about 10\\u00a0000\\tyen ")
['about', '10\\xa0000', 'yen']
>>> hidden = hide_white_space("10\\u00a0000")
>>> hidden.split() == [hidden], show_white_space(hidden)
(True, '10\\xa0000')
"""

from __future__ import annotations

BLANKS = " \t\r\n"
"""What separates words."""

# Unicode's noncharacters U+FDD0 to U+FDEF are for use inside a program: no text has them.
_LAST = 0x3000  # the highest white space of Unicode
_INSIDE = [code for code in range(_LAST + 1) if chr(code).isspace() and chr(code) not in BLANKS]
_HIDE = {code: chr(0xFDD0 + n) for n, code in enumerate(_INSIDE)}
_SHOW = {ord(stand_in): chr(code) for code, stand_in in _HIDE.items()}


def split_words(line: str) -> list[str]:
    """The words of a line of tokenised text."""
    for blank in "\t\r\n":
        line = line.replace(blank, " ")
    return [word for word in line.split(" ") if word]


def is_blank(line: str) -> bool:
    """Whether a line has no word."""
    return not line.strip(BLANKS)


def hide_white_space(line: str) -> str:
    """The words of a line, one blank between them, for programs that cut at all white space: what is inside of words becomes
    other characters, different ones for different white space."""
    return " ".join(split_words(line)).translate(_HIDE)


def show_white_space(text: str) -> str:
    """What `hide_white_space` hid, again as it was."""
    return text.translate(_SHOW)
