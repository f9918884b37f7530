"""What ``reactor doctor`` looks at: each check returns findings and changes nothing."""

import contextlib
import importlib.metadata
import os
import platform
import resource
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reactor_runtime.cli.stun_probe import ask_stun
from reactor_runtime.cores import usable_cores
from reactor_runtime.devices import torch_cuda_version, visible_cuda_devices
from reactor_runtime.errors import AddressError
from reactor_runtime.listening_socket import open_sockets
from reactor_runtime.loopback import is_loopback
from reactor_runtime.settings import ServeSettings

STUN_TIMEOUT_S = 2.0
_NEEDED_SHM_BYTES = 256 << 20
_NEEDED_FILES = 1024
_NEEDED_THREADS = 256
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_PACKAGES = ("numpy", "pydantic", "aiortc", "av", "starlette", "uvicorn", "protobuf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report.

    Attributes:
        subject: What was looked at.
        text: What was found.
        cure: What to do; empty when all is well.
        is_problem: Serving will fail or disappoint until it is cured; else the cure is advice.
    """

    subject: str
    text: str
    cure: str = ""
    is_problem: bool = False


Check = Callable[[ServeSettings], Iterator[Finding]]


def check_python(_settings: ServeSettings) -> Iterator[Finding]:
    """Python itself and the packages the runtime stands on."""
    version = platform.python_version()
    is_old = sys.version_info < (3, 11)
    yield Finding(
        subject="Python",
        text=f"{version} at {sys.executable}",
        cure="use Python 3.11 or newer" if is_old else "",
        is_problem=is_old,
    )
    missing, found = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    cure = f"pip install {' '.join(missing)}" if missing else ""
    yield Finding(subject="packages", text=", ".join(found), cure=cure, is_problem=bool(missing))


def check_torch(_settings: ServeSettings) -> Iterator[Finding]:
    """torch, its CUDA, and the devices it would see; nothing is imported."""
    devices = visible_cuda_devices()
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        cure = "install torch if the model needs it" if devices else ""
        yield Finding(subject="torch", text=f"not installed, {_devices(devices)}", cure=cure)
        return
    cuda = torch_cuda_version()
    built = "built for CPU" if cuda == "none" else f"built for CUDA {cuda}"
    cure = ""
    if devices and cuda == "none":
        cure = "install torch built for CUDA to use the device"
    elif not devices and cuda not in (None, "none"):
        cure = "no device is visible: check the driver, CUDA_VISIBLE_DEVICES, docker --gpus"
    yield Finding(subject="torch", text=f"{version}, {built}, {_devices(devices)}", cure=cure)


def _devices(count: int) -> str:
    return f"{count} CUDA device{'' if count == 1 else 's'} visible"


def check_machine(_settings: ServeSettings) -> Iterator[Finding]:
    """Cores, threads, open files and shared memory."""
    cores = available_cores()
    cure = "give it two or more: encoding and the model share one core" if cores < 2 else ""
    yield Finding(subject="cores", text=f"{cores:g} usable of {os.cpu_count()}", cure=cure)
    yield _threads(cores)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    few = not unlimited and files < _NEEDED_FILES
    yield Finding(
        subject="open files",
        text="no limit" if unlimited else f"{files} at most",
        cure=f"ulimit -n {_NEEDED_FILES * 4}" if few else "",
        is_problem=few,
    )
    yield _shared_memory()


def available_cores() -> float:
    """Return the cores this process may use: its affinity, or its container's quota if smaller."""
    cores = float(usable_cores())
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return cores if quota == "max" else min(cores, int(quota) / int(period))
    except (OSError, ValueError):
        return cores


def _threads(cores: float) -> Finding:
    most = most_threads()
    text = "no limit" if most is None else f"{most} at most"
    if most is not None and most < _NEEDED_THREADS:
        cure = f"ulimit -u {_NEEDED_THREADS * 4}, or docker --pids-limit {_NEEDED_THREADS * 4}"
        return Finding(subject="threads", text=text, cure=cure, is_problem=True)
    for name in _THREAD_VARIABLES:
        count = os.environ.get(name, "")
        if count.isdecimal() and int(count) > cores:
            text, cure = (
                f"{text}, {name} is {count}",
                f"{name}={max(1, int(cores))}: more get in each other's way",
            )
            return Finding(subject="threads", text=text, cure=cure)
    return Finding(subject="threads", text=text)


def most_threads() -> int | None:
    """Return how many threads this user or container may have, ``None`` where nothing says."""
    limits = [limit for limit in resource.getrlimit(resource.RLIMIT_NPROC)[:1] if limit >= 0]
    with contextlib.suppress(OSError, ValueError):  # "max", or no such group
        limits.append(int(Path("/sys/fs/cgroup/pids.max").read_text()))
    return min(limits, default=None)


def _shared_memory() -> Finding:
    if hasattr(os, "memfd_create"):
        try:
            os.close(os.memfd_create("reactor-doctor"))
        except OSError as error:
            reason = error.strerror or "refused"
            return Finding(
                subject="shared memory",
                text=f"memfd_create fails ({reason})",
                cure="allow memfd_create in the sandbox, or keep world_size 1",
                is_problem=False,
            )
        return Finding(subject="shared memory", text="memfd, no size limit of its own")
    try:
        free = shutil.disk_usage("/dev/shm").free
    except OSError:
        return Finding(subject="shared memory", text="none", cure="keep world_size 1")
    cure = "docker --shm-size=1g, for world_size above 1" if free < _NEEDED_SHM_BYTES else ""
    return Finding(subject="shared memory", text=f"/dev/shm, {free >> 20} MiB free", cure=cure)


def check_port(settings: ServeSettings) -> Iterator[Finding]:
    """Whether the server could listen, and who could then reach it."""
    subject, place = "port", f"{settings.host}:{settings.port}"
    try:
        for listener in open_sockets(settings.host, settings.port):
            listener.close()
    except AddressError as error:
        cure = error.cure or "choose another --host"
        yield Finding(subject=subject, text=f"{place}: {error.reason}", cure=cure, is_problem=True)
        return
    yield Finding(subject=subject, text=f"{place} is free")
    if settings.token is None and not is_loopback(settings.host):
        yield Finding(
            subject="access",
            text=f"everybody who reaches {place} may steer, watch and stop the model",
            cure="set REACTOR_TOKEN",
        )


def check_candidates(settings: ServeSettings) -> Iterator[Finding]:
    """The addresses that WebRTC would offer to viewers."""
    from reactor_runtime.webrtc.local_addresses import list_addresses

    usable = [address for address in list_addresses() if _can_bind(address)]
    if settings.public_address:
        usable.append(f"{settings.public_address} (public)")
    if usable:
        yield Finding(subject="ICE candidates", text=", ".join(usable))
        return
    yield Finding(
        subject="ICE candidates",
        text="none but loopback, which viewers cannot use",
        cure="connect a network, or run the container with one (docker --network host)",
        is_problem=True,
    )


def _can_bind(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def check_servers(settings: ServeSettings) -> Iterator[Finding]:
    """Whether the configured STUN and TURN servers answer."""
    uris = [*settings.stun, *(server.uri for server in settings.turn)]
    if not uris:
        yield Finding(subject="STUN/TURN", text="none configured, none asked")
    for uri in uris:
        subject = uri.partition(":")[0].upper().removesuffix("S")
        try:
            answer = ask_stun(uri, STUN_TIMEOUT_S)
        except OSError as error:
            yield Finding(
                subject=subject,
                text=f"{uri}: {error.strerror or error}",
                cure="check the address and that UDP (or its transport) may leave this host",
                is_problem=True,
            )
            continue
        seen = f", sees this host as {answer.address}" if answer.address else ""
        text = f"{uri} answers in {answer.round_trip_s * 1000:.0f} ms{seen}"
        yield Finding(subject=subject, text=text)


CHECKS: tuple[Check, ...] = (
    check_python,
    check_torch,
    check_machine,
    check_port,
    check_candidates,
    check_servers,
)
