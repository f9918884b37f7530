"""The names of messages: one class each, on the wire and in the schema."""

from typing import Any

import pytest

from reactor_runtime import ModelMessage, ReactorModel, event
from reactor_runtime.model.contract import ModelContract


class HTTPStatus(ModelMessage):
    code: int


class HttpStatus(ModelMessage):
    text: str


class ReactorUploadReference(ModelMessage):
    mine: bool = True


class Detailed:
    class Status(HTTPStatus):
        """Nested classes go by their last name."""


class Other:
    class Status(ModelMessage):
        other: int


class Fuller:
    class Status(Detailed.Status):
        more: int = 0


class _Hidden(ModelMessage):
    text: str


def test_messages_that_clients_cannot_tell_apart_are_an_error_that_names_both() -> None:
    class SameWireName(ReactorModel):
        @event
        def one(self) -> HTTPStatus: ...  # type: ignore[empty-body]
        @event
        async def two(self) -> None:
            await self.send(HttpStatus(text=""))

    class SameClassName(ReactorModel):
        @event
        def one(self) -> Other.Status: ...  # type: ignore[empty-body]
        @event
        def two(self) -> Detailed.Status: ...  # type: ignore[empty-body]

    class NameOfOurs(ReactorModel):
        @event
        def one(self) -> ReactorUploadReference: ...  # type: ignore[empty-body]

    with pytest.raises(TypeError, match=r"HTTPStatus and .*HttpStatus are both .*'http_status'"):
        ModelContract.of(SameWireName)
    with pytest.raises(TypeError, match=r"Other\.Status and .*Detailed\.Status are both .*rename"):
        ModelContract.of(SameClassName)
    with pytest.raises(TypeError, match=r"ReactorUploadReference in the schema; rename"):
        ModelContract.of(NameOfOurs)


def test_a_message_that_extends_another_of_its_name_stands_for_both() -> None:
    class Both(ReactorModel):
        @event
        def one(self) -> Fuller.Status: ...  # type: ignore[empty-body]
        @event
        def two(self) -> Detailed.Status: ...  # type: ignore[empty-body]
        @event
        def three(self) -> _Hidden: ...  # type: ignore[empty-body]

    contract = ModelContract.of(Both)
    assert contract.messages["status"] is Fuller.Status
    document = contract.render_schema().to_openapi()
    assert list(document["components"]["schemas"]["Status"]["properties"]) == ["code", "more"]
    assert references(document) <= {
        f"#/components/schemas/{name}" for name in document["components"]["schemas"]
    }


def references(part: Any) -> set[str]:
    """Every ``$ref`` in a document."""
    if isinstance(part, list):
        return set().union(*map(references, part))
    if not isinstance(part, dict):
        return set()
    here = {part["$ref"]} if "$ref" in part else set()
    return here.union(*map(references, part.values()))
