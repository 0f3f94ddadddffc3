"""Time management: divide a limited time among the steps of a refinement.

A `time_limit` is a duration in seconds; None means no limit. A `deadline` is a `time.monotonic`
timestamp; infinity means no deadline.
"""

import math
import time
from collections.abc import Iterator


class Clock:
    """The clock of one refinement, which starts when it is created."""

    def __init__(self, time_limit: float | None) -> None:
        self.started = time.monotonic()
        self.deadline = math.inf if time_limit is None else self.started + time_limit
        # Every step ends by scoring its tree. This many seconds are reserved for the score.
        self.scoring_time = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    @property
    def limited(self) -> bool:
        """Whether there is a deadline."""
        return self.deadline < math.inf

    @property
    def expired(self) -> bool:
        """Whether the remaining time is only enough to score one more tree."""
        return time.monotonic() + self.scoring_time >= self.deadline

    def deadlines(self, count: int, share: float = 1.0) -> Iterator[float]:
        """Yield the deadline of each of `count` steps at the moment when the step starts.

        The steps share this fraction of the remaining time. If a step ends early, later steps
        get the unused time.
        """
        end = time.monotonic() + share * self.left
        for steps_left in range(count, 0, -1):
            now = time.monotonic()
            yield now + max(0.0, end - now) / steps_left

    def time_limit(self, deadline: float) -> float | None:
        """Return the seconds until a deadline, minus the time needed to score the result."""
        if deadline == math.inf:
            return None
        return max(0.0, deadline - self.scoring_time - time.monotonic())
