"""The client and its pool."""


class Client:
    """One connection.

    Args:
        host: Where the server is.
        port: The server's port. Defaults to 7000.
        tls: Whether to encrypt. On by default.
    """

    def __init__(self, host, port=7070, tls=True):
        self.host = host
        self.port = port
        self.tls = tls

    def connect(self, timeout=10.0):
        """Open the socket.

        :param timeout: seconds to wait for the server, 10 by default
        """

    def send(self, line, max_attempts=3, strict=False):
        """Send one line.

        Parameters
        ----------
        line : str
            The text, without its end.
        max_attempts : int, default 3
            How often it is tried.
        strict : bool, optional
            Raise on an unknown reply. Default is True.
        """

    def drain(self, linger=0.25):
        """Wait until everything is written.

        The call returns ``linger`` seconds (default: 250 ms) after the last byte.
        """


class Pool:
    def __init__(self, size=10, max_idle=60, overflow=4):
        self.size = size
        self.max_idle = max_idle
        self.overflow = overflow


def backoff(attempt, base=0.5, cap=30):
    return min(cap, base * 2**attempt)
