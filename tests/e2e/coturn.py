"""A real TURN server (Debian's coturn) in a network namespace: over UDP, TCP and TLS."""

import contextlib
import datetime
import ipaddress
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.e2e.networks import inside
from tests.waiting import wait_for

USERNAME = "viewer@tests"
PASSWORD = "pass/word+of=base64=="
START_DEADLINE_S = 20.0


def find_coturn() -> str | None:
    """Return the server's path, ``None`` where there is none."""
    return shutil.which("turnserver")


@dataclass(frozen=True, kw_only=True)
class Coturn:
    """A running server.

    Attributes:
        host: Where it listens.
        certificate: The file that whoever speaks TLS with it must trust.
    """

    host: str
    certificate: Path
    output: Path

    def log(self) -> str:
        """Return everything it printed."""
        return self.output.read_text(errors="replace")


@contextlib.contextmanager
def coturn(namespace: str, host: str) -> Iterator[Coturn]:
    """Run a TURN server on *host*'s usual ports until the block ends."""
    path = find_coturn()
    assert path is not None
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = _certify(Path(folder), host)
        output = Path(folder, "coturn.log")
        words = (
            "-n", "--no-cli", "--lt-cred-mech", f"--user={USERNAME}:{PASSWORD}", "--realm=tests",
            f"--listening-ip={host}", f"--relay-ip={host}", f"--cert={certificate}",
            f"--pkey={key}", f"--pidfile={folder}/pid", f"--userdb={folder}/users",
            "--log-file=stdout", "--simple-log", "--verbose",
        )  # fmt: skip
        with output.open("wb") as sink:
            process = subprocess.Popen(
                ["ip", "netns", "exec", namespace, path, *words],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )
        made = Coturn(host=host, certificate=certificate, output=output)
        try:
            _wait(process, namespace, made)
            yield made
        finally:
            process.kill()
            process.wait(10)


def _wait(process: subprocess.Popen[bytes], namespace: str, server: Coturn) -> None:
    def listens() -> bool:
        assert process.poll() is None, server.log()
        with contextlib.suppress(OSError):
            for port in (3478, 5349):
                place = (server.host, port)
                inside(namespace, lambda p=place: socket.create_connection(p, 1).close())  # type: ignore[misc]
            return True
        return False

    wait_for(listens, START_DEADLINE_S, server.log)


def _certify(folder: Path, host: str) -> tuple[Path, Path]:
    """Write a certificate of *host* that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "relay of the tests")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address(host))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_path, key_path = folder / "certificate.pem", folder / "key.pem"
    certificate_path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate_path, key_path
