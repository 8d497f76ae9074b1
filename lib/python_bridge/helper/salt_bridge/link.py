"""The connection of one job's process to the job's host: frames of MessagePack over a Unix socket.

Both sides ask and answer. While a plugin waits for an answer, the host may call another function in this process, so
whoever waits also serves. One thread reads at a time; other threads of a plugin wait for it.
"""

import os
import struct
import threading

from . import pack

MAX_MESSAGE = 64 << 20


class LinkClosed(BaseException):
    """The job's host has gone: nothing is left to do. No plugin catches it by mistake."""


class Link:
    def __init__(self, connection, serve):
        self._connection = connection
        self._serve = serve
        self._next = 0
        self._answers = {}
        self._lock = threading.RLock()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self):
        """A process that a plugin forks must not keep the connection open, nor use it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def send(self, message):
        content = pack.encode(message)
        if len(content) > MAX_MESSAGE:
            raise ValueError("a message of %d bytes, of at most %d" % (len(content), MAX_MESSAGE))
        with self._lock:
            self._write(struct.pack(">IB", len(content), 1) + content)

    def _write(self, data):
        if self._connection is None:
            raise RuntimeError("this process was forked by a plugin, and cannot ask the minion")
        try:
            self._connection.sendall(data)
        except OSError:
            raise LinkClosed() from None

    def receive(self):
        """The next message."""
        size, _sender = struct.unpack(">IB", self._read(5))
        if size > MAX_MESSAGE:
            raise LinkClosed()
        return pack.decode(self._read(size))

    def _read(self, size):
        pieces = []
        while size > 0:
            try:
                piece = self._connection.recv(min(size, 1 << 20))
            except OSError:
                piece = b""
            if not piece:
                raise LinkClosed()
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def ask(self, what, **fields):
        """The answer of the host to a question.

        :returns: the message, of the kind `answer` or `refused`.
        """
        with self._lock:
            self._next += 1
            number = self._next
            message = {"kind": "ask", "id": number, "what": what}
            message.update(fields)
            self.send(message)
            while number not in self._answers:
                self.take(self.receive())
            return self._answers.pop(number)

    def take(self, message):
        """Handles a message."""
        if message["kind"] in ("answer", "refused"):
            self._answers[message["id"]] = message
        else:
            self._serve(message)
