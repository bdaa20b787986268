"""A refresh of the graph ends where a full link would, and links no more than it must."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.index.programs import histories
from tests.index.segments import Segmented, assert_same, full


@settings(max_examples=150)
@given(histories(), st.sampled_from((0.0, 1.0, 1.0)), st.integers(0, 5))
def test_a_refresh_equals_a_full_link(history: list[dict[str, str]], bulk_share: float, merge_at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = Segmented(Path(folder), history[0])
        for step, files in enumerate(history[1:]):
            found = index.refresh(files, bulk_share=bulk_share, merge=step == merge_at)
            assert_same(found, full(files))
