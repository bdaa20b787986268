import argparse

from . import env


def parser():
    p = argparse.ArgumentParser("shipyard")
    p.add_argument("--jobs", type=int, default=2, help="images built at a time (default: 2)")
    p.add_argument("--cache-dir", default="~/.cache/shipyard", help="where layers are kept")
    p.add_argument("--log-level", default="info", help="debug, info, warning or error")
    p.add_argument("--retries", type=int, default=2, help="how often a failed step is tried again")
    p.add_argument(
        "--poll-interval",
        type=float,
        default=0.5,
        help="seconds between two looks at the daemon (1.0 by default)",
    )
    p.add_argument("--max-layers", type=int, default=127, help="must be below 128")
    return p
