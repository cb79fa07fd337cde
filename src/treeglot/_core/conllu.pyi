from typing import TypeVar

_T = TypeVar("_T")
_Strings = tuple[str, ...]
_Columns = tuple[_Strings, _Strings, _Strings, _Strings, _Strings, _Strings, _Strings]

def make_frozen(cls: type[_T], names: _Strings, values: tuple[object, ...]) -> _T:
    """An instance of an immutable class with these attributes, made without its constructor."""

class ScanError(ValueError):
    """Its arguments are line, column (0: the whole line), message and remedy."""

    args: tuple[int, int, str, str]

class Reader:
    """Turns pieces of CoNLL-U text into sentences."""

    def __init__(self, first_line: int = 1) -> None: ...
    def feed(self, data: bytes) -> None:
        """Add the next piece of the file."""

    def finish(self) -> None:
        """Say that there is no more."""

    def next(
        self,
    ) -> (
        tuple[
            _Columns,
            tuple[int, ...] | None,
            _Strings | None,
            str,
            _Strings,
            tuple[tuple[int, int, _Strings], ...],
            tuple[tuple[int, _Strings], ...],
            int,
        ]
        | None
    ):
        """The next complete sentence, or None if more input is needed or there is none left.

        The columns forms, lemmas, upos, xpos, feats, deps, misc; heads; deprels; id; comments; multiword ranges;
        empty nodes; and how the sentence ended (0: blank line, 1: end of file, 2: end of file inside its last line).
        """
