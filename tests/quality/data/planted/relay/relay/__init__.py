from .client import Client, Pool, backoff
from .settings import DEFAULT_ENCODING, KEEPALIVE_INTERVAL, MAX_LINE_LENGTH
