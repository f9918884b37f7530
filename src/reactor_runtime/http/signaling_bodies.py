"""Bodies of the signalling routes, checked before anything negotiates. Unknown keys are ignored."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

MAX_CANDIDATES = 256
MAX_TRACKS = 64

_ShortText = Annotated[str, Field(max_length=256)]
_IceText = r"^[A-Za-z0-9+/]+$"


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class TrackMapping(_Body):
    """Which media section carries which track; directions are the client's."""

    mid: _ShortText
    name: _ShortText
    kind: Literal["video", "audio"]
    direction: Literal["recvonly", "sendonly"]


class IceCredentials(_Body):
    """The user fragment and password of the server's side."""

    ufrag: Annotated[str, Field(min_length=4, max_length=256, pattern=_IceText)]
    pwd: Annotated[str, Field(min_length=22, max_length=256, pattern=_IceText)]


class OfferBody(_Body):
    """An offer, and what it may ask of its own connection."""

    sdp_offer: Annotated[str, Field(min_length=1)]
    client_info: dict[str, Any] = Field(default_factory=dict)
    track_mapping: Annotated[list[TrackMapping], Field(max_length=MAX_TRACKS)] | None = None
    ice_servers: Annotated[list[dict[str, Any]], Field(max_length=16)] | None = None
    ice_credentials: IceCredentials | None = None
    port_range: list[Annotated[int, Field(ge=1, le=65535)]] | None = None

    @model_validator(mode="after")
    def _check_port_range(self) -> "OfferBody":
        ports = self.port_range
        if ports is not None and (len(ports) != 2 or ports[0] > ports[1]):
            raise ValueError("port_range must be [lowest, highest]")
        return self


class Candidate(_Body):
    """One way to reach the client; an empty *candidate* says there are no more."""

    candidate: Annotated[str, Field(max_length=1024)]
    sdp_mid: _ShortText | None = None
    sdp_mline_index: Annotated[int, Field(ge=0, le=1023)] | None = None


class CandidateBody(_Body):
    """A batch of candidates."""

    candidates: Annotated[list[Candidate], Field(max_length=MAX_CANDIDATES)] = Field(
        default_factory=list
    )
    is_final: bool = False
