"""Liveness, readiness and which dependency works: what `/healthz`, `/readyz` and the runner's back-off share."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from streams import metrics

# A batch that neither ends nor waits for a dependency for this long is stuck: the process should be restarted.
STALL_SECONDS = 600.0


@dataclass
class Health:
    """One a process. `successes` counts what each dependency did, to tell a poison record from an outage."""

    successes: Counter[str] = field(default_factory=Counter)
    down: dict[str, str] = field(default_factory=dict)
    roles_ready: dict[str, bool] = field(default_factory=dict)
    stopping: bool = False
    _progress: dict[str, float] = field(default_factory=dict)

    def succeeded(self, dependency: str) -> None:
        self.successes[dependency] += 1
        if self.down.pop(dependency, None) is not None or self.successes[dependency] == 1:
            metrics.DEPENDENCY_UP.labels(dependency).set(1)

    def failed(self, dependency: str, detail: str) -> bool:
        """Returns True at the first failure after a success: the one worth a log line."""
        first = dependency not in self.down
        self.down[dependency] = detail
        metrics.DEPENDENCY_UP.labels(dependency).set(0)
        return first

    def begin(self, stage: str) -> None:
        self._progress[stage] = time.monotonic()

    # A part of a batch is done, or waits for a dependency that is known to be down: both are signs of life.
    progress = begin

    def end(self, stage: str) -> None:
        self._progress.pop(stage, None)

    def alive(self) -> tuple[bool, str]:
        stuck = [s for s, since in self._progress.items() if time.monotonic() - since > STALL_SECONDS]
        return (not stuck), ("stuck: " + ", ".join(stuck) if stuck else "ok")

    def ready(self) -> tuple[bool, str]:
        waiting = [role for role, ready in self.roles_ready.items() if not ready]
        problems = [f"{name} is down" for name in self.down] + [f"{role} is not ready yet" for role in waiting]
        if self.stopping:
            problems.append("stopping")
        return (not problems), ("; ".join(problems) or "ok")
