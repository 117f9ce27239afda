"""Text to token ids by SentencePiece, with the vocabulary of the model file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from streams.adapters.embedders.e5.weights import Vocabulary

_SPACES = re.compile("  +")
# Fields of sentencepiece_model.proto, and their values here.
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_PIECE, _SCORE, _TYPE = 1, 2, 3
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_MODEL_TYPE, _UNIGRAM = 3, 1
_IDS_OF_SPECIALS = 40  # and the three after it: unknown, begin, end, pad
_NORMALIZER_NAME, _ADD_SPACE, _DROP_SPACES, _MARK_SPACES = 1, 3, 4, 5


class Tokens:
    """The tokenizer of XLM-RoBERTa. Thread-safe; releases the GIL while it works."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from sentencepiece import SentencePieceProcessor

        self._begin, self._end = [vocabulary.begin], [vocabulary.end]
        self._replaced = vocabulary.replaced
        self._processor: Any = SentencePieceProcessor()
        self._processor.LoadFromSerializedProto(_serialized(vocabulary))

    def ids(self, texts: Sequence[str], most: int) -> list[list[int]]:
        """Ids of each text between those of begin and end, at most `most` in all; what is more is cut."""
        spaced = [_SPACES.sub(" ", text.translate(self._replaced)) for text in texts]
        found: list[list[int]] = self._processor.encode(spaced, num_threads=1)
        return [self._begin + content[: most - 2] + self._end for content in found]


def _serialized(vocabulary: Vocabulary) -> bytes:
    """The vocabulary as a SentencePiece model: a protobuf `ModelProto`, written field by field, because a quarter of a
    million message objects would take seconds."""
    specials = (vocabulary.unknown, vocabulary.begin, vocabulary.end, vocabulary.pad)
    types = dict.fromkeys(specials[1:], _CONTROL) | {vocabulary.unknown: _UNKNOWN}
    trainer = _number(_MODEL_TYPE, _UNIGRAM)
    for field, special in enumerate(specials, _IDS_OF_SPECIALS):
        trainer += _number(field, special)
    # The table of characters has been applied, and runs of spaces are single ones, when the model sees the text.
    normalizer = _bytes(_NORMALIZER_NAME, b"identity")
    normalizer += _number(_ADD_SPACE, 1) + _number(_DROP_SPACES, 0) + _number(_MARK_SPACES, 1)
    model = b"".join(_pieces(vocabulary, types))
    return model + _bytes(_TRAINER, trainer) + _bytes(_NORMALIZER, normalizer)


def _pieces(vocabulary: Vocabulary, types: dict[int, int]) -> Iterator[bytes]:
    scores = vocabulary.scores.astype("<f4").tobytes()
    score_tag = _varint(_SCORE << 3 | 5)
    for index, piece in enumerate(vocabulary.pieces):
        score = score_tag + scores[4 * index : 4 * index + 4]
        kind = types.get(index, _NORMAL)
        yield _bytes(_PIECES, _bytes(_PIECE, piece) + score + (b"" if kind == _NORMAL else _number(_TYPE, kind)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    if value < 128:
        return bytes((value,))
    return bytes((value & 127 | 128,)) + _varint(value >> 7)
