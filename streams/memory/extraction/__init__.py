"""What of a conversation is worth remembering: candidates of the facts layer, and episodes."""

from streams.memory.extraction.episodes import episodes
from streams.memory.extraction.gate import gate
from streams.memory.extraction.model import ModelExtractor
from streams.memory.extraction.result import Extraction, Extractor, SentenceTrace
from streams.memory.extraction.rules import RuleExtractor

__all__ = ["Extraction", "Extractor", "ModelExtractor", "RuleExtractor", "SentenceTrace", "episodes", "gate"]
