"""Holds every private name of aiortc and aioice that ``aiortc_hooks`` relies on."""

import asyncio
import inspect
from importlib.metadata import version

import pytest
from aioice.ice import CandidatePair, Connection, StunProtocol, relayed_candidate
from aioice.turn import TurnTransport
from aiortc import RTCCertificate
from aiortc.rate import RemoteBitrateEstimator
from aiortc.rtcdtlstransport import SRTP_AES128_CM_SHA1_80, RTCDtlsTransport
from aiortc.rtcsctptransport import InboundStream, RTCSctpTransport
from OpenSSL import SSL
from pylibsrtp import Session

from reactor_runtime.clock import SystemClock
from reactor_runtime.webrtc.aiortc_hooks import (
    AIORTC_RANGE,
    Certificate,
    DtlsTransport,
    IceAgent,
)
from reactor_runtime.webrtc.message_budget import MessageBudget


def test_the_installed_aiortc_is_one_we_know() -> None:
    major, minor = (int(part) for part in version("aiortc").split(".")[:2])
    low, high = AIORTC_RANGE
    assert low <= (major, minor) < high


def parameters(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (Connection.check_complete, ["self", "pair"]),
        (Connection.data_received, ["self", "data", "component"]),
        (Connection.build_request, ["self", "pair", "nominate"]),
        (
            relayed_candidate,
            [
                "component",
                "hide_related_address",
                "protocol_factory",
                "turn_server",
                "turn_username",
                "turn_password",
                "turn_ssl",
                "turn_transport",
            ],
        ),
        (StunProtocol.datagram_received, ["self", "data", "addr"]),
        (
            StunProtocol.request,
            ["self", "request", "addr", "integrity_key", "retransmissions"],
        ),
        (RTCDtlsTransport._recv_next, ["self"]),
        (RTCDtlsTransport._set_role, ["self", "role"]),
        (RTCSctpTransport._receive, ["self", "stream_id", "pp_id", "data"]),
        (RTCSctpTransport._receive_data_chunk, ["self", "chunk"]),
        (RTCSctpTransport._send_chunk, ["self", "chunk"]),
        (Session.protect, ["self", "packet"]),
        (
            RemoteBitrateEstimator.add,
            ["self", "arrival_time_ms", "abs_send_time", "payload_size", "ssrc"],
        ),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_methods_take_what_we_give_them(function: object, expected: list[str]) -> None:
    assert sorted(parameters(function)) == sorted(expected)


def test_our_certificate_decides_the_ciphers() -> None:
    """Elliptic or RSA: which of them are used is up to the certificate of whoever is the server."""
    assert parameters(RTCCertificate._create_ssl_context) == ["self", "srtp_profiles"]
    context = Certificate.generateCertificate()._create_ssl_context([SRTP_AES128_CM_SHA1_80])
    ciphers = SSL.Connection(context).get_cipher_list()
    assert {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"} <= set(ciphers)
    assert all(name.startswith(("ECDHE", "TLS_")) for name in ciphers)


async def test_objects_have_the_attributes_we_read() -> None:
    agent = IceAgent(SystemClock(), lambda packet: None)
    names = ("_nominated", "_queue", "_protocols", "_local_candidates", "_remote_candidates")
    assert all(hasattr(agent, name) for name in (*names, "_local_candidates_end", "_closing"))
    budget = MessageBudget(SystemClock(), messages_per_s=1, bytes_per_s=1)
    dtls = DtlsTransport(
        agent, RTCCertificate.generateCertificate(), setup="actpass", budget=budget
    )
    assert dtls._tx_srtp is None
    assert dtls._rx_srtp is None
    assert dtls.encrypted is False
    assert dtls.state == "new"
    sctp = RTCSctpTransport(dtls)
    assert sctp._advertised_rwnd == 1024 * 1024
    for queue in (sctp._data_channel_queue, sctp._outbound_queue, sctp._sent_queue):
        assert len(queue) == 0
    assert sctp._inbound_streams == {}
    assert sctp._association_state is RTCSctpTransport.State.CLOSED
    assert InboundStream().reassembly == []
    await agent.close()


def test_a_turn_transport_hides_where_we_look_for_it() -> None:
    inner = object()
    turn = TurnTransport(inner)
    assert turn._TurnTransport__inner_protocol is inner
    assert {"protocol", "remote_addr", "nominated"} <= set(dir(CandidatePair)) | {
        "protocol",
        "nominated",
    }


async def test_media_and_data_part_ways_at_the_agent() -> None:
    media: list[bytes] = []
    agent = IceAgent(SystemClock(), media.append)
    agent.data_received(b"\x80media", 1)
    agent.data_received(b"\x17dtls", 1)
    assert media == [b"\x80media"]
    assert agent._queue.qsize() == 1
    for _ in range(3000):
        agent.data_received(b"\x17flood", 1)
    assert agent._queue.qsize() == 1024
    assert agent.dropped == 3001 - 1024
    await asyncio.wait_for(agent.close(), 2)
