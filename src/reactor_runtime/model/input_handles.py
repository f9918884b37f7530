"""The ``MediaInput`` of a model: made when its handle is first looked at."""

from typing import TYPE_CHECKING, Any

from reactor_runtime.model.input_buffer import InputBuffer
from reactor_runtime.model.media_input import MediaInput, media_handles

if TYPE_CHECKING:
    from reactor_runtime.model.reactor_model import ReactorModel

_INPUTS = "_reactor_inputs"


class InputAttribute:
    """Makes ``self.<handle>`` where the author put nothing of that name."""

    def __init__(self, handle: str, kind: type[MediaInput]) -> None:
        self._handle, self._kind = handle, kind

    def __get__(self, model: "ReactorModel | None", owner: type) -> Any:
        if model is None:
            return self
        inputs: dict[str, MediaInput] = vars(model).setdefault(_INPUTS, {})
        if self._handle not in inputs:
            inputs[self._handle] = self._kind()
        return inputs[self._handle]


def install_handles(model_class: type) -> None:
    """Give *model_class* the handles it annotates and defines nothing for."""
    for handle, kind in media_handles(model_class).items():
        if not hasattr(model_class, handle) or _is_other(model_class, handle, kind):
            setattr(model_class, handle, InputAttribute(handle, kind))


def input_buffers(model: "ReactorModel") -> dict[str, InputBuffer]:
    """Return the model's input buffers by track."""
    return {
        track: getattr(media, track)
        for handle in media_handles(type(model))
        if isinstance(media := getattr(model, handle), MediaInput)
        for track in type(media).__tracks__
    }


def _is_other(model_class: type, handle: str, kind: type[MediaInput]) -> bool:
    """Whether a base class has this handle with another ``MediaInput``."""
    found = getattr(model_class, handle)
    return isinstance(found, InputAttribute) and found._kind is not kind
