"""Redaction: what may never enter the memory, found and taken out before anything else sees a text.

    redactor = Redactor(load_policy())
    session = redactor.session()          # one event
    session.redact("打我手机 138 0013 8000").text   # "打我手机 [PHONE_1]"

No model, no I/O, no state between events: the same input gives the same output.
"""

from streams.memory.redaction.model import Action, Hit, Redaction, Span
from streams.memory.redaction.placeholders import DROPPED, PLACEHOLDER, is_only_placeholders, without_placeholders
from streams.memory.redaction.policy import CustomPattern, Policy, load_policy
from streams.memory.redaction.recognizers.base import Recognizer
from streams.memory.redaction.redactor import RedactionSession, Redactor

__all__ = [
    "DROPPED",
    "PLACEHOLDER",
    "Action",
    "CustomPattern",
    "Hit",
    "Policy",
    "Recognizer",
    "Redaction",
    "RedactionSession",
    "Redactor",
    "Span",
    "is_only_placeholders",
    "load_policy",
    "without_placeholders",
]
