"""Timings of `lci mcp` over pipes: from its start to the list of tools, and of a search on an open index.

    python -m tests.bench.mcp_server                  # packages of this Python's standard library, some 3,000 chunks
    python -m tests.bench.mcp_server --tree DIR       # a folder with an index

start      from the start of the process to the answer of the first `tools/list`, in ms: the median of 10
first      the first search, in ms: the SDK is imported, and the index opened
MODE       a search, or explore, in ms: the median, and the 95th percentile, of 120, each for other words; and the
           processor time of all processes of the server for one of them
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

PACKAGES = ("asyncio", "concurrent", "email", "http", "json", "urllib")
MODES = ("dense", "bm25", "multiview", "explore")
STARTS, CALLS = 10, 120
WORDS = "connection pool request retry timeout header cookie session close parse stream payload upgrade proxy".split()
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Client:
    """A client that knows just enough of the protocol."""

    def __init__(self, lci: str, tree: Path) -> None:
        self._number = 0
        self.process = subprocess.Popen(
            [lci, "mcp", "--root", str(tree)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.answers = os.fdopen(os.dup(self.process.stdout.fileno()), "rb")  # type: ignore[union-attr]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return json.loads(self.answers.readline())["result"]

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")  # type: ignore[union-attr]

    def greet(self) -> None:
        self.ask("initialize", **CLIENT)
        self._send({"method": "notifications/initialized"})
        self.ask("tools/list")

    def search(self, words: str, mode: str) -> None:
        question = {"question": words} if mode == "explore" else {"query": words, "mode": mode, "limit": 5}
        found = self.ask("tools/call", name="explore" if mode == "explore" else "search", arguments=question)
        if found["isError"]:
            sys.exit(found["content"][0]["text"])

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()

    def cpu(self) -> float:
        """Milliseconds of processor time that the server and its worker have used."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        pids = [self.process.pid, *(int(pid) for thread in threads for pid in thread.read_text().split())]
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) * 1e3 / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--lci", default=str(Path(sys.executable).parent / "lci"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = args.tree or Path(folder)
        if args.tree is None:
            for name in PACKAGES:
                shutil.copytree(
                    Path(sysconfig.get_path("stdlib")) / name, tree / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            subprocess.run([args.lci, "index", "-q", str(tree)], check=True)
        measure(args.lci, tree)


def measure(lci: str, tree: Path) -> None:
    starts = []
    for _ in range(STARTS):
        began = time.perf_counter()
        client = Client(lci, tree)
        client.greet()
        starts.append((time.perf_counter() - began) * 1e3)
        client.close()
    print(f"start      {statistics.median(starts):6.1f} ms")
    client = Client(lci, tree)
    client.greet()
    began = time.perf_counter()
    client.search("anything", "dense")
    print(f"first      {(time.perf_counter() - began) * 1e3:6.1f} ms")
    for mode in MODES:
        client.search("anything", mode)
        times, used = [], client.cpu()
        for call in range(CALLS):
            words = f"where is the {WORDS[call % len(WORDS)]} {WORDS[call // len(WORDS)]} handled"
            began = time.perf_counter()
            client.search(words, mode)
            times.append((time.perf_counter() - began) * 1e3)
        used = (client.cpu() - used) / CALLS
        print(
            f"{mode:<10} {statistics.median(times):6.1f} ms, p95 {sorted(times)[CALLS * 95 // 100]:.1f}, cpu {used:.1f}"
        )
    client.close()


if __name__ == "__main__":
    main()
