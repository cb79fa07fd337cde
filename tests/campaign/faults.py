"""What can befall a file: damage as disks, cables and editors do it, and forgery with right checksums.

``damage`` changes bytes and leaves the checksums. ``header`` changes one to three fields of the header, near to what they were or to
an extreme, and ``contents`` bytes of the rest; both make the checksums right again. The n-th fault of a kind of fault, a kind of file
and a seed is always the same.
"""

from __future__ import annotations

import random

from campaign.kinds import KINDS

FAULTS = ("damage", "header", "contents")
EXTREMES = [0, 1, 7, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 61, 1 << 63, (1 << 64) - 8, (1 << 64) - 1]
_MASK = (1 << 64) - 1


def faulty(good: bytes, kind: str, fault: str, number: int, seed: int) -> tuple[str, bytes]:
    """What is done, in words, and the file."""
    choose = random.Random(f"{seed} {kind} {fault} {number}")
    file = bytearray(good)
    if fault == "damage":
        name = _damage(file, choose, 0)
    elif fault == "header":
        name = _forge_header(file, choose, KINDS[kind].header)
        file = KINDS[kind].seal(file)
    else:
        name = _damage(file, choose, KINDS[kind].header, same_size=choose.random() < 0.9)
        file = KINDS[kind].seal(file)
    return name, bytes(file)


def fault_of(kind: str, fault: str, number: int) -> str:
    """The kind of fault of a try: ``mixed`` is one after another."""
    possible = [name for name in FAULTS if forgeable(kind, name)]
    return possible[number % len(possible)] if fault == "mixed" else fault


def forgeable(kind: str, fault: str) -> bool:
    """Whether there is a checksum that could be made right."""
    return fault == "damage" or (KINDS[kind].header > 60 if fault == "header" else KINDS[kind].header > 0)


def _damage(file: bytearray, choose: random.Random, begin: int, *, same_size: bool = False) -> str:
    how = choose.choice(["bit", "bits", "byte", "word", "zeros", "copy", *([] if same_size else ["cut", "longer"])])
    size = len(file)
    at = choose.randrange(begin, size)
    if how == "bit":
        bit = choose.randrange(8)
        file[at] ^= 1 << bit
        return f"bit {bit} of byte {at}"
    if how == "bits":
        places = [choose.randrange(begin, size) for _ in range(choose.randint(2, 8))]
        for place in places:
            file[place] ^= 1 << choose.randrange(8)
        return f"a bit of each of {places}"
    if how == "byte":
        file[at] = choose.randrange(256)
        return f"byte {at} is {file[at]}"
    if how == "word":
        at = max(begin, at // 8 * 8)
        value = choose.choice(EXTREMES).to_bytes(8, "little")[: size - at]
        file[at : at + 8] = value
        return f"eight bytes at {at} are {value.hex()}"
    if how == "cut":
        del file[at:]
        return f"cut at {at}"
    if how == "longer":
        more = choose.randbytes(choose.choice([1, 8, 4096]))
        file += more
        return f"{len(more)} bytes more"
    length = min(choose.choice([1, 8, 64, 512, 4096]), size - at)
    if how == "zeros":
        file[at : at + length] = bytes(length)
        return f"{length} zeros at {at}"
    source = choose.randrange(begin, size - length + 1)
    file[at : at + length] = file[source : source + length]
    return f"{length} bytes from {source} at {at}"


def _forge_header(file: bytearray, choose: random.Random, header: int) -> str:
    done = []
    for _ in range(choose.choice([1, 1, 1, 2, 3])):
        width = choose.choice([8, 8, 4, 1])
        at = choose.randrange(8 // width, header // width) * width
        right = int.from_bytes(file[at : at + width], "little")
        near = [right + 1, right - 1, right + 8, right - 8, right * 2, right // 2, len(file)]
        near.append(right ^ 1 << choose.randrange(64))
        value = choose.choice([*EXTREMES, *near, *near]) & _MASK & (1 << 8 * width) - 1
        file[at : at + width] = value.to_bytes(width, "little")
        done.append(f"{width} bytes at {at} are {value:#x}")
    return ", ".join(done)
