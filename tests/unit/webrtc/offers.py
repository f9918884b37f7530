"""SDP offers as clients write them, and pieces to make broken ones."""

PRINT = ":".join(["AB"] * 32)
HEAD = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
KEYS = "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\n"
TRUST = f"a=fingerprint:sha-256 {PRINT}\r\na=setup:actpass\r\n"
VP8 = "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
RTX = "a=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n"
H264 = "a=rtpmap:102 H264/90000\r\na=fmtp:102 packetization-mode={};profile-level-id={}\r\n"
OPUS = "a=rtpmap:111 opus/48000/2\r\na=fmtp:111 minptime=10;useinbandfec=1\r\n"


def video(
    mid: str, *, formats: str = "96 97", codecs: str = VP8 + RTX, way: str = "recvonly"
) -> str:
    """Return a video section."""
    return (
        f"m=video 9 UDP/TLS/RTP/SAVPF {formats}\r\nc=IN IP4 0.0.0.0\r\na=mid:{mid}\r\n"
        f"{KEYS}{TRUST}a={way}\r\na=rtcp-mux\r\n"
        "a=extmap:1 urn:ietf:params:rtp-hdrext:toffset\r\n"
        "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
        "a=extmap:5/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay\r\n"
        f"{codecs}"
    )


def audio(mid: str, *, codecs: str = OPUS, way: str = "recvonly") -> str:
    """Return a sound section."""
    return (
        f"m=audio 9 UDP/TLS/RTP/SAVPF 111 9\r\na=mid:{mid}\r\n{KEYS}{TRUST}a={way}\r\n"
        f"a=rtcp-mux\r\n{codecs}a=rtpmap:9 G722/8000\r\n"
    )


def application(mid: str, *, size: int | None = None) -> str:
    """Return a section of data channels."""
    limit = "" if size is None else f"a=max-message-size:{size}\r\n"
    return (
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n"
        f"a=mid:{mid}\r\n{KEYS}{TRUST}a=sctp-port:5000\r\n{limit}"
    )


def offer(*sections: str, bundle: str | None = None, extra: str = "") -> str:
    """Return a whole offer; bundled over all its mids unless told otherwise."""
    mids = [text.split("a=mid:")[1].split("\r\n")[0] for text in sections]
    group = " ".join(mids) if bundle is None else bundle
    return f"{HEAD}a=group:BUNDLE {group}\r\n{extra}" + "".join(sections)
