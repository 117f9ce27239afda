"""The wire contract: pydantic models of every record on every topic. Nothing else lives here."""

from schemas.base import SCHEMA_VERSION, Instant, Name, WireModel
from schemas.control import (
    Access,
    Command,
    DecayTick,
    ErasureReceipt,
    Fence,
    ForgetCommand,
    Job,
    PairVerdict,
    Receipt,
    ReExtractCommand,
    ReExtractReceipt,
    RestoreCommand,
    RestoreReceipt,
    Supersede,
)
from schemas.events import Candidate, CandidateEvent, ConversationEvent, Message, RedactedEvent, ReExtraction, TimeRef
from schemas.memory import Layer, MemoryRecord, MemoryStatus, MemoryType, Source
from schemas.recall import ErrorReply, EventOutcome, RecalledMemory, RecallReply, RecallRequest, Turn
from schemas.tenant import Tenant

__all__ = [
    "SCHEMA_VERSION",
    "Access",
    "Candidate",
    "CandidateEvent",
    "Command",
    "ConversationEvent",
    "DecayTick",
    "ErasureReceipt",
    "ErrorReply",
    "EventOutcome",
    "Fence",
    "ForgetCommand",
    "Instant",
    "Job",
    "Layer",
    "MemoryRecord",
    "MemoryStatus",
    "MemoryType",
    "Message",
    "Name",
    "PairVerdict",
    "ReExtractCommand",
    "ReExtractReceipt",
    "ReExtraction",
    "RecallReply",
    "RecallRequest",
    "RecalledMemory",
    "Receipt",
    "RedactedEvent",
    "RestoreCommand",
    "RestoreReceipt",
    "Source",
    "Supersede",
    "Tenant",
    "TimeRef",
    "Turn",
    "WireModel",
]
