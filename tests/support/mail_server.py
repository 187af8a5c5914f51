"""A real mail server for tests: SMTP at a free port here, which may refuse, be slow, or drop what it took."""

import socket
import socketserver
import ssl
import threading
import time
from collections import defaultdict
from contextlib import closing, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import BinaryIO

HOST = "127.0.0.1"
# For the name localhost; made with: openssl req -x509 -newkey rsa:2048 -nodes -days 36500 -subj /CN=localhost
# -addext subjectAltName=DNS:localhost
CERTIFICATE = Path(__file__).parent / "mail_server.pem"


@dataclass
class MailListener:
    """Serves until it is closed, and keeps what it accepted.

    `answers` has, by command, what is answered in place of the usual, the next one first; an empty one drops the
    connection, after what came with the command was kept.
    """

    is_encrypted: bool = False  # from the first byte
    offers_starttls: bool = False
    seconds_a_line: float = 0.0  # before each answer
    answers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    received: list[bytes] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin to serve."""
        listener = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with suppress(OSError), closing(Conversation(listener, self.request)) as conversation:
                    conversation.hold()  # until the client goes away

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Server((HOST, 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.server_address[1])

    @property
    def messages(self) -> list[EmailMessage]:
        """What it accepted, parsed."""
        return [message_from_bytes(one, policy=policy.default) for one in self.received]

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()


class Conversation:
    """The dialogue on one connection (RFC 5321)."""

    def __init__(self, listener: MailListener, connection: socket.socket) -> None:
        """Encrypt at once, where the listener does so."""
        self.listener = listener
        self.connection = connection
        self.is_over = False
        if listener.is_encrypted:
            self.encrypt()
        self.lines = self.file()

    def encrypt(self) -> None:
        """Go on with TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        self.connection = context.wrap_socket(self.connection, server_side=True)

    def file(self) -> BinaryIO:
        """The connection as a file."""
        return self.connection.makefile("rb")

    def close(self) -> None:
        """Close the connection."""
        self.lines.close()
        self.connection.close()

    def hold(self) -> None:
        """Answer line by line until one side is done."""
        self.answer("CONNECT", "220 ready")
        while not self.is_over and (line := self.lines.readline()):
            words = line.decode().strip()
            self.listener.commands.append(words)
            self.react(words.partition(" ")[0].upper(), words)

    def react(self, command: str, words: str) -> None:
        """Answer one command."""
        match command:
            case "EHLO":
                extensions = ["250-localhost", *(["250-STARTTLS"] if self.listener.offers_starttls else [])]
                self.answer(command, "\r\n".join([*extensions, "250 AUTH PLAIN"]))
            case "STARTTLS":
                self.answer(command, "220 go ahead")
                self.lines.close()
                self.encrypt()
                self.lines = self.file()
            case "RCPT":
                if self.answer(command, "250 ok").startswith("250"):
                    self.listener.recipients.append(words.partition("<")[2].rstrip(">"))
            case "DATA":
                if self.answer(command, "354 send").startswith("354"):
                    self.take()
            case "AUTH":
                self.answer(command, "235 welcome")
            case "QUIT":
                self.answer(command, "221 bye")
                self.is_over = True
            case _:
                self.answer(command, "250 ok")

    def take(self) -> None:
        """Read a message up to the line with a dot, keep it, and confirm it."""
        lines = []
        while (line := self.lines.readline()) and line != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        # "END" is what comes after the message: an empty answer drops the connection, and the message is kept.
        given = self.listener.answers["END"]
        if not given or given[0][:1] in ("", "2"):
            self.listener.received.append(b"".join(lines))
        self.answer("END", "250 accepted")

    def answer(self, command: str, usual: str) -> str:
        """Send the next answer that was prepared for a command, or the usual one."""
        prepared = self.listener.answers[command]
        answer = prepared.pop(0) if prepared else usual
        time.sleep(self.listener.seconds_a_line)
        if answer:
            self.connection.sendall(f"{answer}\r\n".encode())
        else:
            self.is_over = True
            self.connection.shutdown(socket.SHUT_RDWR)
        return answer
