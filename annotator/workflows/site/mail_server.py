"""The mail server by which the site sends: one connection for each e-mail, encrypted, checked and bounded in time."""

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage

from annotator.errors import NotAllowedError
from annotator.mail_values import checked_mail_address
from annotator.workflows.site.host_keys import read_secret

STARTTLS, TLS = "starttls", "tls"
PASSWORD_SETTING = "ANNOTATOR_MAIL_PASSWORD"  # noqa: S105 - the name of a setting
# Of one reading or writing, and of all together.
SECONDS_TO_ANSWER = 20.0
SECONDS_IN_ALL = 90.0
LONGEST_LINE = 200
READY = 220
FIRST_PERMANENT = 500


class MailProblem(Exception):  # noqa: N818 - a state of the world, not a mistake
    """Why an e-mail was not accepted.

    `is_final`: the server will never accept it for this recipient. `is_of_server`: others would not be accepted
    either, since the server cannot be reached or lets the site send nothing.
    """

    def __init__(self, text: str, *, is_final: bool = False, is_of_server: bool = True) -> None:
        """Take the sentence for administrators, in English."""
        super().__init__(text)
        self.is_final, self.is_of_server = is_final, is_of_server


@dataclass(frozen=True)
class Post:
    """A text to send; `message` is of its Message-ID, which is the same in every attempt, as is the date."""

    to: str
    subject: str
    text: str
    message: str
    at: datetime


@dataclass(frozen=True)
class MailServer:
    """Where the mail server is, and how the site signs in there; `password` names where the password is."""

    host: str
    port: int
    tls: str
    name: str
    password: str
    sender: str
    seconds: float = SECONDS_TO_ANSWER
    seconds_in_all: float = SECONDS_IN_ALL

    def send(self, post: Post) -> None:
        """Send a text.

        Raises `MailProblem`, which is final if no message can be made of the text or the address. If the server's
        answer is lost, the same message, with the same Message-ID, is sent again later: delivery is at least once.
        """
        try:
            message = self._message(post).as_bytes()
        except Exception as fault:  # whatever it is, it is of this e-mail, and the same in every attempt
            raise unwritten(fault) from fault
        with self._connected() as client:
            try:
                # To this address alone, whatever the header would be read as.
                client.sendmail(self.sender, [post.to], message)
            except smtplib.SMTPRecipientsRefused as refused:
                raise _refusal(*next(iter(refused.recipients.values()))) from refused
            except smtplib.SMTPDataError as refused:
                raise _refusal(refused.smtp_code, refused.smtp_error) from refused

    def _message(self, post: Post) -> EmailMessage:
        """The message in plain text; what would end a line of its headers is a blank there."""
        message = EmailMessage(policy=policy.SMTP)
        message["From"] = self.sender
        message["To"] = checked_mail_address(post.to)
        message["Subject"] = one_line(post.subject)
        message["Date"] = post.at.astimezone(UTC)
        message["Message-ID"] = f"<{post.message}@{_domain(self.sender)}>"
        # Nobody's absence is answered to the site.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(post.text)
        return message

    def check(self) -> None:
        """Connect and sign in, and send nothing; raises `MailProblem`."""
        with self._connected() as client:
            client.noop()

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        """A connection on which the site has signed in; every trouble with it is a `MailProblem`."""
        client = _Client(self)
        try:
            client.begin()
            yield client
        except smtplib.SMTPResponseException as refused:
            raise MailProblem(_shown(refused.smtp_code, refused.smtp_error)) from refused
        except ssl.SSLCertVerificationError as wrong:
            raise MailProblem(f"The certificate of {self.host} is not valid: {wrong.verify_message}") from wrong
        except (smtplib.SMTPException, OSError, UnicodeError) as trouble:
            raise MailProblem(one_line(str(trouble)) or type(trouble).__name__) from trouble
        except NotAllowedError as unread:
            raise MailProblem(str(unread)) from unread
        finally:
            client.end()


class _Client(smtplib.SMTP):
    """A connection that is cut when all together takes too long, however slowly the server sends."""

    def __init__(self, server: MailServer) -> None:
        # The name with which the client greets the server: looking up one's own name may take long.
        super().__init__(local_hostname=_domain(server.sender), timeout=server.seconds)
        self._server = server
        self._ended = threading.Event()
        # starttls checks the certificate against this name, which smtplib sets only if it connects at once.
        self._host = server.host

    def begin(self) -> None:
        """Connect, encrypt and sign in."""
        server = self._server
        code, greeting = self.connect(server.host, server.port)
        if code != READY:
            raise smtplib.SMTPConnectError(code, greeting)
        if server.tls == STARTTLS:
            self.starttls(context=ssl.create_default_context())
        self.ehlo_or_helo_if_needed()
        if server.name:
            self.login(server.name, read_secret(server.password, PASSWORD_SETTING, server.host))

    def end(self) -> None:
        """Take leave, which concerns nobody if it fails, and close the connection."""
        with suppress(smtplib.SMTPException, OSError):
            if self.sock is not None:
                self.quit()
        self._ended.set()
        self.close()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect, as smtplib asks here for its socket; with TLS from the first byte if the settings say so."""
        plain = socket.create_connection((host, port), timeout)
        # A second handle on the connection below the encryption.
        threading.Thread(target=self._cut_when_late, args=(plain.dup(),), daemon=True).start()
        if self._server.tls == TLS:
            return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        return plain

    def _cut_when_late(self, twin: socket.socket) -> None:
        with twin:
            if not self._ended.wait(self._server.seconds_in_all):
                # Whatever is read or written at this moment fails then.
                with suppress(OSError):
                    twin.shutdown(socket.SHUT_RDWR)


def unwritten(fault: Exception) -> MailProblem:
    """The problem of an e-mail whose text or headers cannot be made; without the fault's words, which may be secret."""
    reason = f"The message could not be written: {type(fault).__name__}"
    return MailProblem(reason, is_final=True, is_of_server=False)


def _domain(address: str) -> str:
    return address.rpartition("@")[2]


def _refusal(code: int, answer: bytes | str) -> MailProblem:
    return MailProblem(_shown(code, answer), is_final=code >= FIRST_PERMANENT, is_of_server=False)


def _shown(code: int, answer: bytes | str) -> str:
    words = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return f"{code} {one_line(words)}".strip()


def one_line(words: str) -> str:
    """A text as one short line of printable characters."""
    line = " ".join(words.split())
    return "".join(sign for sign in line if sign.isprintable())[:LONGEST_LINE]
