"""Which function runs a command; each is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation


def run_command(call: Invocation) -> int:
    """Run one command, and return its exit code."""
    if call.command in ("search", "def"):
        from lci_py.cli import search

        return search.run_search(call) if call.command == "search" else search.run_def(call)
    if call.command in ("callers", "callees", "tree", "refs"):
        from lci_py.cli import graph

        return graph.run_graph(call)
    if call.command == "grep":
        from lci_py.cli import grep

        return grep.run_grep(call)
    if call.command == "show":
        from lci_py.cli import show

        return show.run_show(call)
    if call.command == "outline":
        from lci_py.cli import outline

        return outline.run_outline(call)
    if call.command == "path":
        from lci_py.cli import path

        return path.run_path(call)
    if call.command == "affected":
        from lci_py.cli import affected

        return affected.run_affected(call)
    if call.command == "conflicts":
        from lci_py.cli import conflicts

        return conflicts.run_conflicts(call)
    if call.command == "cluster":
        from lci_py.cli import cluster

        return cluster.run_cluster(call)
    if call.command == "agent":
        from lci_py.cli import agent

        return agent.run_agent(call)
    from lci_py.cli import index

    runs = {
        "index": index.run_index,
        "status": index.run_status,
        "stats": index.run_stats,
        "clean": index.run_clean,
        "workspace": index.run_workspace,
        "hook": index.run_hook,
    }
    return runs[call.command](call)
