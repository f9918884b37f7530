"""ModelContract: a model's class, read once, as frozen values."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from reactor_runtime.errors import PayloadError
from reactor_runtime.model.annotations import (
    alternatives,
    class_of,
    is_authors,
    names_around,
    own_annotations,
)
from reactor_runtime.model.command import CommandContract, read_commands
from reactor_runtime.model.file_references import UPLOAD_REFERENCE
from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.lifecycle import Lifecycle, read_lifecycle
from reactor_runtime.model.media_input import MediaInput, media_handles
from reactor_runtime.model.mentions import mentioned, visible
from reactor_runtime.model.messages import ModelMessage, wire_name
from reactor_runtime.model.openapi import ModelSchema
from reactor_runtime.model.output import Output
from reactor_runtime.model.pace import class_buffer_frames, class_fps
from reactor_runtime.model.payload import bind
from reactor_runtime.model.refusals import short_name
from reactor_runtime.model.tracks import Track
from reactor_runtime.model.uploaded_file import UploadedFile

_NO_FILES: Mapping[str, UploadedFile] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelContract:
    """What a model's class declares.

    Attributes:
        name: The class name.
        description: The class docstring.
        commands: By wire name: methods first, then state fields.
        messages: Message classes by wire name.
        tracks: Outputs, then inputs, each in order of declaration.
        lifecycle: The marked methods.
        state_class: What the class annotates ``state:`` with, if it is an ``InputState``.
        inputs: The attributes annotated with a ``MediaInput``.
    """

    name: str
    description: str
    commands: Mapping[str, CommandContract]
    messages: Mapping[str, type[ModelMessage]]
    tracks: tuple[Track, ...]
    lifecycle: Lifecycle
    state_class: type[InputState] | None
    inputs: Mapping[str, type[MediaInput]]

    @classmethod
    def of(cls, model: type) -> Self:
        """Read *model*.

        Raises:
            TypeError: A declaration makes no sense; it names class, method or field, and the cure.
        """
        _check_pace(model)
        state = state_class(model)
        commands = read_commands(model, state)
        inputs = media_handles(model)
        return cls(
            name=model.__name__,
            description=inspect.cleandoc(vars(model).get("__doc__") or ""),
            commands=commands,
            messages=_messages(model, commands),
            tracks=_tracks(model, inputs),
            lifecycle=read_lifecycle(model),
            state_class=state,
            inputs=inputs,
        )

    def bind(
        self,
        command: str,
        payload: Mapping[str, Any],
        files: Mapping[str, UploadedFile] = _NO_FILES,
    ) -> dict[str, Any]:
        """Return the arguments of *command*, normalised, validated, with defaults filled in.

        Args:
            command: Its wire name.
            payload: What the client sent. A file is there as itself, as an object with its
                ``upload_id``, or as a ``FileReference``.
            files: What may be referred to, by upload id.

        Raises:
            UnresolvedUploadError: All is right but that files it refers to are not among *files*.
            PayloadError: Naming command, field and reason.
        """
        known = self.commands.get(command)
        if known is None:
            raise PayloadError(short_name(command), None, "there is no such command")
        return bind(known, payload, files)

    def render_schema(self, title: str = "", description: str = "") -> ModelSchema:
        """Return the contract as a document, under another *title* and *description* if given."""
        return ModelSchema(
            title=title or self.name,
            description=description or self.description,
            contract=self,
        )


def _check_pace(model: type) -> None:
    try:
        class_fps(model)
        class_buffer_frames(model)
    except ValueError as error:
        raise TypeError(f"{model.__qualname__}.{error}") from error


def state_class(model: type) -> type[InputState] | None:
    """Return the ``InputState`` that *model* annotates ``state:`` with, the nearest one.

    Raises:
        TypeError: The annotation names something that does not exist.
    """
    for owner in model.__mro__:
        annotation = own_annotations(owner).get("state") if is_authors(owner) else None
        if annotation is None:
            continue
        try:
            kinds = alternatives(annotation, names_around(owner))
        except NameError as error:
            raise TypeError(
                f"{owner.__qualname__}.state: {error}; define or import the state class at "
                "module level, not under TYPE_CHECKING only"
            ) from error
        return next((s for s in (class_of(kind, InputState) for kind in kinds) if s), None)
    return None


def _messages(
    model: type, commands: Mapping[str, CommandContract]
) -> dict[str, type[ModelMessage]]:
    replies = [kind for command in commands.values() for kind in command.replies]
    named = [k for k in mentioned(model, ModelMessage) if not k.__name__.startswith("_")]
    messages: dict[str, type[ModelMessage]] = {}
    for kind in (*replies, *named):
        before = messages.setdefault(wire_name(kind), kind)
        if issubclass(kind, before) and kind.__name__ == before.__name__:
            messages[wire_name(kind)] = kind  # it says more
        elif not (issubclass(before, kind) and kind.__name__ == before.__name__):
            raise TypeError(_same_name(model, before, kind, f"the message {wire_name(kind)!r}"))
    _check_class_names(model, messages.values())
    for kind in visible(model, ModelMessage):
        if not kind.__name__.startswith("_") and kind.__name__ not in _class_names(messages):
            messages.setdefault(wire_name(kind), kind)
    return messages


def _check_class_names(model: type, kinds: Iterable[type[ModelMessage]]) -> None:
    """Check that each message class has a name of its own: it is what schemas are known by."""
    known: dict[str, type] = {UPLOAD_REFERENCE: UploadedFile}
    for kind in kinds:
        before = known.setdefault(kind.__name__, kind)
        if before is not kind:
            raise TypeError(_same_name(model, before, kind, f"{kind.__name__} in the schema"))


def _class_names(messages: Mapping[str, type[ModelMessage]]) -> set[str]:
    return {UPLOAD_REFERENCE, *(kind.__name__ for kind in messages.values())}


def _same_name(model: type, one: type, other: type, what: str) -> str:
    places = " and ".join(f"{kind.__module__}.{kind.__qualname__}" for kind in (one, other))
    return f"{model.__qualname__}: {places} are both {what}; rename one"


def _tracks(model: type, inputs: Mapping[str, type[MediaInput]]) -> tuple[Track, ...]:
    outputs = mentioned(model, Output) or visible(model, Output)
    tracks: dict[str, tuple[Track, str]] = {}
    kinds: list[type[Output] | type[MediaInput]] = [*outputs, *inputs.values()]
    for kind in kinds:
        for track in kind.__tracks__.values():
            before, owner = tracks.setdefault(track.name, (track, kind.__qualname__))
            if before != track:
                raise TypeError(
                    f"{model.__qualname__}: {owner} and {kind.__qualname__} both declare the track "
                    f"{track.name!r}, differently; a track name is one track, so rename one"
                )
    return tuple(track for track, _ in tracks.values())
