"""Values for arguments by the types that the stubs name: good ones, impossible ones, and ones of other types."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hostile.stubs import Member, Parameter, aliases, imported
from hostile.world import Objects

INTEGERS = [0, 1, 2, 3, 7, -1, -2, 255, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**63 - 1, 2**63]
INTEGERS += [2**64 - 1, 2**64, -(2**63), 10**40]
FLOATS = [0.0, 1.0, 0.5, -1.0, 1e-300, -0.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan]
TEXTS = ["", " ", "a b", "x" * 5000, "\0", "\ud800", "\u3000", "|||", "0-0", "<s>", "😀", "a\nb"]
BYTES = [
    b"", b"\n", b"a\n", b"a b\nc\n", b"a ||| u ||| 1 1 1 1 ||| 0-0\n", b"0-0 1-1\n", b"0-99999999999\n", b"\xff\xfe\n", b"(S (A a) (B b))\n",
    b"\0" * 70, b"a " * 70000, b"-1:0-0:0\n", b"{}\n", b"0-2:1-3\n", b"\\data\\\nngram 1=99999999999\n", b"1\ta\n\n",
]  # fmt: skip
OTHERS: list[Any] = [
    None,
    True,
    0,
    1.5,
    "a",
    b"a",
    [],
    (),
    {},
    object(),
    int,
    [None],
    [[]],
    range(3),
    np.zeros(3),
    iter([1]),
]
AMOUNTS = frozenset({
    "model1_iterations", "hmm_iterations", "sweeps", "chains", "sampling_sweeps", "random_directions", "trial_sweeps", "finalists",
    "epochs", "samples", "kept", "levels", "steps", "count",
})  # fmt: skip
"""Work that is done if it is asked for, however long it takes."""


WRITERS = frozenset({
    "align.Corpus.learn", "lm.compile_arpa", "parsed.ParsedBitext.write", "rule_tables.build", "tables.Corpus.write_table",
    "tables.MosesImporter.finish",
})  # fmt: skip
"""They may not replace what the others read."""


class Values:
    """Strategies for the parameters of a member of a room."""

    def __init__(self, objects: Objects, member: Member) -> None:
        self.objects, self.room = objects, member.room
        self.aliases, self.imported = aliases(member.room), imported(member.room)
        self.words = objects.texts()
        writes = str(member) in WRITERS
        self.paths = objects.outputs if writes else objects.paths

    def any(self, parameter: Parameter) -> st.SearchStrategy[Any]:
        """Mostly of the right type, now and then of another one."""
        right = self.of(parameter.type, parameter.name)
        if parameter.rest:
            right = st.dictionaries(st.sampled_from(self.words), self._value(), max_size=2)
        return st.one_of(right, right, right, st.sampled_from(OTHERS), self._foreign())

    def of(self, type_: ast.expr, name: str) -> st.SearchStrategy[Any]:
        if isinstance(type_, ast.BinOp):
            return st.one_of(self.of(type_.left, name), self.of(type_.right, name))
        if isinstance(type_, ast.Constant):
            return st.none() if type_.value is None else st.just(type_.value)
        if isinstance(type_, ast.Name):
            return self._named(type_.id, name)
        if isinstance(type_, ast.Subscript):
            assert isinstance(type_.value, ast.Name)
            inner = type_.slice.elts if isinstance(type_.slice, ast.Tuple) else [type_.slice]
            return self._generic(type_.value.id, inner, name)
        assert isinstance(type_, ast.Attribute)
        return self._array(type_.attr)

    def _named(self, type_: str, name: str) -> st.SearchStrategy[Any]:
        if type_ == "int":
            few = [number for number in INTEGERS if number < 10] if name in AMOUNTS else INTEGERS
            return st.one_of(st.integers(-1, 6), st.sampled_from(few))
        if type_ == "float":
            some = [number for number in FLOATS if number < 10] if name in AMOUNTS else FLOATS
            return st.one_of(st.sampled_from(some), st.floats(-2, 2), st.integers(-1, 3))
        if type_ == "bool":
            return st.booleans()
        if type_ == "str":
            texts = st.one_of(st.sampled_from(self.words), st.sampled_from(TEXTS), st.text(max_size=8))
            paths = st.sampled_from(self.paths)
            return paths if name == "path" else st.sampled_from(self.objects.outputs) if name == "folder" else texts
        if type_ == "bytes":
            return st.one_of(st.sampled_from(BYTES), st.binary(max_size=40))
        if type_ in ("Any", "object"):
            return st.one_of(self._value(), st.sampled_from(OTHERS))
        if type_ in self.aliases:
            return self.of(self.aliases[type_], name)
        if type_ == "_T":
            return st.sampled_from(OTHERS)
        place = f"{self.imported.get(type_, self.room)}.{type_}"
        return st.builds(self.objects.make[place])

    def _generic(self, outer: str, inner: list[ast.expr], name: str) -> st.SearchStrategy[Any]:
        if outer in ("list", "Sequence", "Iterable"):
            return st.one_of(*(st.lists(self.of(inner[0], name), min_size=n, max_size=n) for n in (0, 1, 2, 3, 4)))
        if outer == "tuple" and isinstance(inner[-1], ast.Constant) and inner[-1].value is ...:
            return st.lists(self.of(inner[0], name), max_size=4).map(tuple)
        if outer == "tuple":
            return st.tuples(*(self.of(part, name) for part in inner))
        if outer == "dict":
            return st.dictionaries(st.sampled_from(self.words), self.of(inner[1], name), max_size=3)
        if outer == "NDArray":
            assert isinstance(inner[0], ast.Attribute)
            return self._array(inner[0].attr)
        if outer == "Literal":
            return st.sampled_from([ast.literal_eval(part) for part in inner] + ["none of them"])
        if outer == "Callable":
            return st.sampled_from(
                [lambda *_: None, lambda *_: b"\\data\\\n", lambda *_: 1 // 0, lambda: None, bytes, str]
            )
        assert outer == "type"
        return st.sampled_from([object, int, type, ValueError, *OTHERS])

    def _array(self, dtype: str) -> st.SearchStrategy[Any]:
        def build(rank: int, size: int, width: int, kind: str, layout: str, seed: int) -> Any:
            random = np.random.default_rng(seed)
            shape = (size, width, 2)[:rank]
            low = -1 if np.dtype(kind).kind != "u" else 0
            array = random.integers(low, 4, shape).astype(kind)
            if array.size and seed % 5 == 0:
                extreme = [np.nan, np.inf, 1e308][seed % 3] if array.dtype.kind == "f" else 0
                array.flat[0] = extreme if array.dtype.kind == "f" else np.iinfo(array.dtype).max
            if layout == "strided":
                return np.repeat(array, 2, axis=0)[::2] if rank else array
            if layout == "reversed":
                return array[::-1] if rank else array
            if layout == "fortran":
                return np.asfortranarray(array)
            if layout == "swapped":
                return array.astype(array.dtype.newbyteorder())
            if layout == "fixed":
                array.flags.writeable = False
            return array

        return st.builds(
            build,
            st.sampled_from([1, 2, 1, 2, 0, 3]),
            st.integers(0, 4),
            st.sampled_from([2, 2, 1, 3, 0, 6]),
            st.sampled_from([dtype, dtype, dtype, "float32", "int64", "uint8"]),
            st.sampled_from(["plain", "plain", "strided", "reversed", "fortran", "swapped", "fixed"]),
            st.integers(0, 100),
        )

    def _value(self) -> st.SearchStrategy[Any]:
        return st.one_of(st.booleans(), st.sampled_from(INTEGERS), st.sampled_from(FLOATS), st.sampled_from(self.words))

    def _foreign(self) -> st.SearchStrategy[Any]:
        """An object of any class, and one that was never made."""
        names = sorted(self.objects.make)
        fresh = st.sampled_from(names).map(lambda name: self.objects.make[name]())
        return st.one_of(fresh, st.sampled_from(names).map(lambda name: unmade(self.objects.make[name]())))


def unmade(example: Any) -> Any:
    """An object of the same class whose constructor was not called."""
    try:
        return type(example).__new__(type(example))
    except TypeError:
        return None
