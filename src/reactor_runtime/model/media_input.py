"""MediaInput: the inbound tracks a model reads, one ``InputBuffer`` per track."""

from typing import Any, ClassVar, TypeAlias

from reactor_runtime.model.annotations import (
    alternatives,
    class_of,
    is_authors,
    names_around,
    own_annotations,
)
from reactor_runtime.model.input_buffer import InputBuffer
from reactor_runtime.model.tracks import Track, TrackDirection, declared_tracks


class MediaInput:
    """Inbound tracks. Subclass it and annotate ``Video`` and ``Audio``.

    A model that annotates ``handle: MyInput`` (any name) reads ``self.handle.<track>``, which is an
    ``InputBuffer``. An instance holds fresh, open buffers, so a test may push into one.
    """

    __tracks__: ClassVar[dict[str, Track]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__tracks__ = {t.name: t for t in declared_tracks(cls, TrackDirection.IN)}

    def __init__(self) -> None:
        for track in type(self).__tracks__.values():
            setattr(self, track.name, InputBuffer(track))


Input: TypeAlias = MediaInput


def media_handles(cls: type) -> dict[str, type[MediaInput]]:
    """Return the attributes of a model class that are annotated with a ``MediaInput``."""
    handles: dict[str, type[MediaInput]] = {}
    for owner in reversed(cls.__mro__):
        if not is_authors(owner):
            continue
        names = names_around(owner)
        for name, annotation in own_annotations(owner).items():
            kind = _media_input(annotation, names)
            handles.pop(name, None)
            if kind is not None:
                handles[name] = kind
    return handles


def _media_input(annotation: Any, names: Any) -> type[MediaInput] | None:
    try:
        kinds = alternatives(annotation, names)
    except NameError:  # an attribute of the author's own, of a type only checkers see
        return None
    media = (class_of(kind, MediaInput) for kind in kinds)
    return next((m for m in media if m not in {None, MediaInput}), None)
