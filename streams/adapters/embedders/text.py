"""What every model is given: valid Unicode of bounded length."""

from __future__ import annotations

_C_STRING_END = "\x00"


def clean(text: str, max_chars: int) -> str:
    """`text` without surrounding space, NUL and lone surrogates, at most `max_chars` characters; "" when none is left.

    A model in C stops reading at a NUL, and a lone surrogate has no UTF-8 form: both are legal in JSON. Halves of a
    surrogate pair that JSON escapes left apart are joined. Cutting comes first, so a megabyte costs what a line does.
    """
    text = text.strip()[:max_chars].replace(_C_STRING_END, " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.strip()
