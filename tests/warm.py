"""What every worker of the tests imports and compiles, done once in the process that they are forked from.

Nothing here may start a thread or open a connection.
"""

from __future__ import annotations

import faust.app.base
import faust.transport.drivers.aiokafka
import uvloop

from streams.adapters.store import edge, qdrant
from streams.memory.extraction import RuleExtractor
from streams.memory.redaction import Redactor, load_policy
from tests import worker

__all__ = ["edge", "faust", "qdrant", "uvloop", "worker"]

RuleExtractor()
Redactor(load_policy(None))
