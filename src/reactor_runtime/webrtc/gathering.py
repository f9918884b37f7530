"""Local ICE candidates: sockets to bind, servers to ask, what the answer names."""

import asyncio
import ipaddress
import random
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aioice import Candidate
from aioice.candidate import candidate_foundation, candidate_priority
from aioice.stun import Class, Message, Method, TransactionError

from reactor_runtime.errors import NoNetworkError, PortTakenError
from reactor_runtime.log import get_logger
from reactor_runtime.webrtc.aiortc_hooks import AgentSocket, IceAgent
from reactor_runtime.webrtc.ice_servers import IceQueries, TurnServer

log = get_logger(__name__)
_RECEIVE_BUFFER_BYTES = 256 * 1024
_SETTLE_S = 0.1  # after a first answer: interfaces without a way out never get one


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherPlan:
    """Where candidates come from.

    Attributes:
        addresses: Local IP addresses to bind.
        port_range: First and last UDP port, both included.
        public_address: Announced too, with the ports of the local addresses.
        queries: STUN and TURN servers.
        timeout_s: Seconds those have.
        credentials: (ufrag, password) of our side; drawn when ``None``.
    """

    addresses: Sequence[str]
    port_range: tuple[int, int] | None = None
    public_address: str | None = None
    queries: IceQueries = field(default_factory=IceQueries)
    timeout_s: float = 0.8
    credentials: tuple[str, str] | None = field(default=None, repr=False)


async def bind_sockets(agent: IceAgent, plan: GatherPlan) -> list[AgentSocket]:
    """Bind one socket per address of *plan* and make each a candidate of *agent*.

    Raises:
        PortTakenError: The only port of the range is in use.
        NoNetworkError: No address could be bound.
    """
    bound: list[AgentSocket] = []
    for address in plan.addresses:
        for port in _ports(plan.port_range):
            agent_socket = await _bind(agent, address, port)
            if agent_socket is not None:
                bound.append(agent_socket)
                break
    if bound:
        return bound
    if plan.port_range is not None and plan.port_range[0] == plan.port_range[1]:
        raise PortTakenError(plan.port_range[0])
    ports = "" if plan.port_range is None else " in the port range {}-{}".format(*plan.port_range)
    raise NoNetworkError(f"no UDP socket could be bound on {', '.join(plan.addresses)}{ports}")


def _ports(port_range: tuple[int, int] | None) -> Iterator[int]:
    if port_range is None:
        yield 0
        return
    first, last = port_range
    count = last - first + 1
    start = random.randrange(count)
    for step in range(min(count, 1000)):
        yield first + (start + step) % count


async def _bind(agent: IceAgent, address: str, port: int) -> AgentSocket | None:
    loop = asyncio.get_running_loop()
    try:
        transport, agent_socket = await loop.create_datagram_endpoint(
            lambda: AgentSocket(agent), local_addr=(address, port)
        )
    except OSError:
        return None
    transport.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES
    )
    host, bound_port = transport.get_extra_info("sockname")[:2]
    agent.adopt(agent_socket, _candidate("host", host, bound_port, host))
    return agent_socket


def _candidate(kind: str, host: str, port: int, base: str, base_port: int = 0) -> Candidate:
    is_host = kind == "host"
    return Candidate(
        foundation=candidate_foundation(kind, "udp", base),
        component=1,
        transport="udp",
        priority=candidate_priority(1, kind),
        host=host,
        port=port,
        type=kind,
        related_address=None if is_host else base,
        related_port=None if is_host else base_port,
    )


async def query_servers(agent: IceAgent, sockets: Sequence[AgentSocket], plan: GatherPlan) -> None:
    """Ask STUN and TURN servers, for at most the plan's time, and end gathering with what came."""
    found: list[Candidate] = []
    asked: list[asyncio.Task[list[Candidate]]] = []
    if plan.queries.stun is not None:
        stun = asyncio.create_task(_reflexive(sockets, plan.queries.stun, plan.timeout_s))
        asked.append(stun)
    if plan.queries.turn is not None:
        asked.append(asyncio.create_task(_relayed(agent, plan.queries.turn)))
    try:
        if asked:
            await asyncio.wait(asked, timeout=plan.timeout_s)
    finally:
        for task in asked:
            task.cancel()
        results = await asyncio.gather(*asked, return_exceptions=True)
    for result in results:
        if isinstance(result, list):
            found += result
    agent.finish_gathering(found)


async def _relayed(agent: IceAgent, server: TurnServer) -> list[Candidate]:
    """Return the address that the TURN *server* grants; say why there is none."""
    try:
        return await agent.gather_relayed()
    except asyncio.CancelledError:
        log.warning("relay_not_granted", server=server.place, reason="no answer in time")
        raise
    except (OSError, TransactionError) as error:
        log.warning("relay_not_granted", server=server.place, reason=str(error))
        return []


async def _reflexive(
    sockets: Sequence[AgentSocket], server: tuple[str, int], timeout_s: float
) -> list[Candidate]:
    """Return how the STUN *server* sees *sockets* (IPv4 only)."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s * 0.95
    try:
        async with asyncio.timeout_at(deadline):
            found = await loop.getaddrinfo(*server, family=socket.AF_INET, type=socket.SOCK_DGRAM)
    except (OSError, TimeoutError):
        return []
    address = (str(found[0][4][0]), int(found[0][4][1]))
    own = [s for s in sockets if ipaddress.ip_address(s.local_candidate.host).version == 4]
    waiting = {asyncio.create_task(_ask(agent_socket, address)) for agent_socket in own}
    candidates: list[Candidate] = []
    try:
        while waiting and loop.time() < deadline:
            left = deadline - loop.time()
            done, waiting = await asyncio.wait(
                waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            answers = [task.result() for task in done]
            candidates += [answer for answer in answers if answer is not None]
            if candidates:
                deadline = min(deadline, loop.time() + _SETTLE_S)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return candidates


async def _ask(agent_socket: AgentSocket, server: tuple[str, int]) -> Candidate | None:
    request = Message(message_method=Method.BINDING, message_class=Class.REQUEST)
    try:
        response, _ = await agent_socket.request(request, server)
    except TransactionError:
        return None
    seen = response.attributes.get("XOR-MAPPED-ADDRESS")
    own = agent_socket.local_candidate
    if seen is None or seen[0] == own.host:
        return None
    return _candidate("srflx", seen[0], seen[1], own.host, own.port)


def announced_candidates(agent: IceAgent, plan: GatherPlan) -> list[str]:
    """Return the values of the answer's ``a=candidate`` lines."""
    candidates = list(agent.local_candidates)
    if plan.public_address is not None:
        version = ipaddress.ip_address(plan.public_address).version
        for own in agent.local_candidates:
            address = ipaddress.ip_address(own.host)
            if own.type == "host" and address.version == version and not address.is_loopback:
                candidates.append(
                    _candidate("srflx", plan.public_address, own.port, own.host, own.port)
                )
    return list(dict.fromkeys(candidate.to_sdp() for candidate in candidates))
