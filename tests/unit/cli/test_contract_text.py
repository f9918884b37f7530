from typing import Literal

from reactor_runtime import (
    Audio,
    ClientInfo,
    InputField,
    InputState,
    MediaInput,
    ModelMessage,
    Output,
    ReactorPipeline,
    UploadedFile,
    Video,
    connected,
    event,
)
from reactor_runtime.cli.contract_text import contract_lines
from reactor_runtime.model.contract import ModelContract


class Told(ModelMessage):
    text: str


class Voice(Audio):
    sample_rate = 16_000


class Shown(Output):
    main_video: Video
    voice: Voice


class Heard(MediaInput):
    mic: Audio


class Steered(InputState):
    hue: float = InputField(default=0.5, ge=0, le=1)
    size: int = InputField(default=3, ge=1)
    mode: Literal["a", "b"] = "a"
    seed: int = InputField(default=0, ge=0, le=16_777_215)
    pace: float = InputField(default=1.0, ge=0.5, le=1234.5678)


class Model(ReactorPipeline):
    state: Steered
    input: Heard

    def inference(self):  # type: ignore[no-untyped-def]
        yield Shown

    @event()
    def say(self, text: str, times: list[int], client: ClientInfo) -> Told:
        return Told(text=text)

    @event()
    def show(self, picture: UploadedFile, caption: str | None = None) -> None: ...

    @connected
    def hello(self, client: ClientInfo) -> None: ...


class Bare(ReactorPipeline):
    state: InputState


def text_of(model: type) -> str:
    return "\n".join(f"{label}|{text}" for label, text in contract_lines(ModelContract.of(model)))


def test_a_contract_is_told_in_lines() -> None:
    text = text_of(Model)
    for line in (
        "class|Model",
        "output tracks|main_video (video), voice (audio, 16000 Hz)",
        "input tracks|mic (audio, 48000 Hz)",
        "state|Steered",
        "hooks|connected",
        "messages|told",
        "say(text: string, times: list of integer) → told",
        "show(picture: file, caption: string or null = None)",
        "set_hue(hue: number 0…1 = 0.5)",
        "set_size(size: integer ≥ 1 = 3)",
        "set_mode(mode: one of a, b = 'a')",
        "set_seed(seed: integer 0…16777215 = 0)",
        "set_pace(pace: number 0.5…1234.5678 = 1.0)",
    ):
        assert line in text


def test_an_empty_contract_says_none() -> None:
    text = text_of(Bare)
    assert "input tracks|none" in text
    assert "hooks|none" in text
    assert "commands|none" in text
