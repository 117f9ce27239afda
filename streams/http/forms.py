"""Forms (`multipart/form-data`): a file and the fields beside it."""

from __future__ import annotations

import sys

from fastapi import Request
from starlette.formparsers import MultiPartException, MultiPartParser

from streams.http.problems import Problem

MOST_FIELDS = 16
MOST_FIELD_BYTES = 64 * 1024


class InMemory(MultiPartParser):
    # The body is in memory already, and what was said belongs on no disk.
    spool_max_size = sys.maxsize


async def fields_of(request: Request) -> dict[str, str | bytes]:
    """Text of the fields, bytes of the file. Raises `Problem` 400."""
    body = await request.body()
    parser = InMemory(
        request.headers,
        request.stream(),
        max_files=1,
        max_fields=MOST_FIELDS,
        max_part_size=MOST_FIELD_BYTES,
    )
    try:
        form = await parser.parse()
    except MultiPartException:
        raise Problem(
            400,
            "not-a-form",
            "not a form with one file; let the HTTP client make it, as in `curl -F user_id=1001 -F file=@FILE`",
        ) from None
    fields: dict[str, str | bytes] = {}
    for name, value in form.multi_items():
        if name in fields:
            raise Problem(400, "repeated-parameter", "send each field of the form once")
        fields[name] = value if isinstance(value, str) else await value.read()
        # The parser takes other bytes for Latin-1, which would make another user's name of one.
        if any(text.encode() not in body for text in (name, value) if isinstance(text, str)):
            raise Problem(400, "not-utf-8", "send the fields of the form in UTF-8")
    await form.close()
    return fields
