import re
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.redaction import clean, clean_fields, is_secret_name, scrub


@pytest.mark.parametrize(
    "name", ["token", "REACTOR_TOKEN", "turn-credential", "db.password", "api_key", "Authorization"]
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["tokens_per_s", "tokenizer", "keyboard", "author", "passed"])
def test_other_names_are_not_hidden(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token: ]",
        "the tokenizer is loaded",
        "GET /health HTTP/1.1",
        "stun:stun.example:3478 answers",
        "basic is a word",
        "mail me@example.org",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(text) == text


def test_values_become_printable() -> None:
    class Mode(Enum):
        FAST = "fast"

    fields = {"path": Path("/a"), "mode": Mode.FAST, "error": ValueError("x"), "set": {1}}
    assert clean_fields(fields, hide_bulk=False) == {
        "path": "/a", "mode": "fast", "error": "ValueError: x", "set": [1],
    }  # fmt: skip


def test_a_value_that_holds_itself_ends() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert clean(endless)


@given(text=st.text(max_size=200))
def test_scrubbing_any_text_ends_and_is_stable(text: str) -> None:
    assert scrub(scrub(text)) == scrub(text)


@given(secret=st.from_regex(re.compile(r"[A-Za-z0-9._~-]{8,40}"), fullmatch=True))
def test_any_token_is_hidden(secret: str) -> None:
    for text in (f"?token={secret}&x=1", f"Bearer {secret}", f"turn:user:{secret}/+=?@host"):
        assert secret not in scrub(text)
