import os

REGISTRY = os.getenv("SHIPYARD_REGISTRY", "docker.io")
PUSH_TIMEOUT = float(os.getenv("SHIPYARD_PUSH_TIMEOUT", "600"))
KEEP = int(os.environ.get("SHIPYARD_KEEP", "3"))
COLOR = os.environ.get("SHIPYARD_COLOR", "auto")
WORKDIR = os.environ.get("SHIPYARD_WORKDIR", "/tmp/shipyard")
