"""One-way negotiation: playback (WHEP) and ingest (WHIP) carry media and no messages. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from reactor_runtime.errors import OfferError, UnknownTrackError
from reactor_runtime.model.tracks import Track, TrackDirection
from reactor_runtime.webrtc.negotiation import Negotiation, SectionPlan, negotiate
from reactor_runtime.webrtc.session_offer import SessionOffer


def negotiate_playback(offer: SessionOffer, tracks: Sequence[Track]) -> Negotiation:
    """Decide which outputs a player gets: in the order of declaration, per kind.

    Raises:
        OfferError: Nothing in it can receive an output of the model.
    """
    outputs = [track for track in tracks if track.direction is TrackDirection.OUT]
    found = _without_data(negotiate(offer, None, outputs))
    if not any(plan.output for plan in found.sections):
        raise OfferError(f"no section of it receives what the model sends ({_names(outputs)})")
    return found


def negotiate_ingest(offer: SessionOffer, tracks: Sequence[Track], name: str) -> Negotiation:
    """Let the first section of its kind feed the input *name*; others are answered inactive.

    Raises:
        OfferError: Nothing in it can feed the input.
        UnknownTrackError: The model has no such input.
    """
    inputs = [track for track in tracks if track.direction is TrackDirection.IN]
    wanted = [track for track in inputs if track.name == name]
    if not wanted:
        raise UnknownTrackError(name, [track.name for track in inputs])
    found = _without_data(negotiate(offer, None, wanted))
    if not any(plan.input for plan in found.sections):
        raise OfferError(f"no section of it sends {wanted[0].kind} for {name!r}")
    return found


def _without_data(negotiation: Negotiation) -> Negotiation:
    sections = tuple(map(_reject_data, negotiation.sections))
    return replace(negotiation, sections=sections)


def _reject_data(plan: SectionPlan) -> SectionPlan:
    return replace(plan, is_accepted=plan.is_accepted and plan.choice is not None)


def _names(tracks: Sequence[Track]) -> str:
    return ", ".join(f"{track.name}, {track.kind}" for track in tracks) or "it sends nothing"
