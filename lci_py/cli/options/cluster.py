"""The command that indexes and searches a fleet of repositories."""

from __future__ import annotations

from lci_py.cli.options.flags import (
    ANSWER_FLAGS,
    BATCH_FLAG,
    FILTER_FLAGS,
    GENERAL_FLAGS,
    MAX_TOKENS_FLAG,
    MODE_HELP,
    NAME_FLAG,
    OFFSET_FLAG,
    OUTPUT,
    PATHS_FLAG,
    RETRIEVAL,
    Command,
    Flag,
    Positional,
)
from lci_py.types.search import MODES

CLUSTER_ACTIONS = ("index", "search", "clean")
_CLUSTER = "Cluster"
CLUSTER = Command(
    "cluster",
    "Index and search the repositories of a fleet, here or on the workers of a Dask cluster.",
    Positional("ACTION", "index, search or clean.", required=True, choices=CLUSTER_ACTIONS),
    (
        Flag(("--store",), "text", "Where the fleet is: a folder, or a URL that fsspec knows.", _CLUSTER, "URL"),
        Flag(
            ("--repos",),
            "text",
            "The repositories, one on a line: NAME PATH[@REVISION]; for index.",
            _CLUSTER,
            "FILE",
        ),
        Flag(
            ("--grace",),
            "int",
            "For clean: keep what was written in the last HOURS; 24 if left out.",
            _CLUSTER,
            "HOURS",
        ),
        Flag(
            ("--scheduler",),
            "text",
            "The address of a scheduler of Dask; without it, the work is done here.",
            _CLUSTER,
            "ADDRESS",
        ),
        Flag(("--workers",), "int", "For index without --scheduler: worker processes; 2 if left out.", _CLUSTER, "N"),
        Flag(
            ("--timeout",),
            "int",
            "For search: seconds to wait for the scheduler's workers in each step; 30 if left out.",
            _CLUSTER,
            "N",
        ),
        Flag(("--tls-ca",), "text", "TLS: the certificate that the scheduler's is signed with.", _CLUSTER, "FILE"),
        Flag(("--tls-cert",), "text", "TLS: your certificate.", _CLUSTER, "FILE"),
        Flag(("--tls-key",), "text", "TLS: your key.", _CLUSTER, "FILE"),
        Flag(("--mode", "-m"), "text", MODE_HELP, RETRIEVAL, "MODE", MODES),
        Flag(("--limit", "-n"), "int", "Results shown, 10 if left out.", RETRIEVAL, "N"),
        OFFSET_FLAG,
        Flag(("--strict",), "flag", "Exit 4 when the answer is degraded; relax no query.", RETRIEVAL),
        *FILTER_FLAGS,
        NAME_FLAG,
        *ANSWER_FLAGS,
        PATHS_FLAG,
        Flag(("--snippet",), "int", "Lines of code per result, those that match best; 0 for none.", OUTPUT, "N"),
        MAX_TOKENS_FLAG,
        BATCH_FLAG,
        *GENERAL_FLAGS,
    ),
    (
        ("lci cluster index --repos repos.txt --store /srv/fleet --workers 4", "on this machine"),
        ("lci cluster search --store /srv/fleet 'who retries a failed upload' -m multiview", "the same"),
        ("lci cluster search --store s3://b/fleet --scheduler tcp://h:8786 retry --repo 'web-*'", "on others"),
        ("lci cluster search --store s3://b/fleet --scheduler tcp://h:8786 --batch -", "many queries, one connection"),
        ("lci cluster clean --store /srv/fleet", "remove what no repository of the fleet needs any more"),
    ),
    Positional("QUERY", "What to search for.", many=True),
)
