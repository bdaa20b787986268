"""How many examples a property is tried with."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> settings:
    """`count` random examples in `make torture`; a third of them in `make test`, where they are the same in every run."""
    repeated = settings.get_current_profile_name() == "repeatable"
    return settings(max_examples=max(count // 3, 10) if repeated else count)
