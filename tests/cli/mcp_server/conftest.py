"""Without the extra `mcp`, only what needs no SDK is tested."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("mcp") else ["test_server.py", "test_greeting.py"]
