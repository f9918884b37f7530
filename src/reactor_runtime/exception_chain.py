"""The exceptions behind an exception: what it was raised from, or in the handling of what."""

from collections.abc import Iterator


def exception_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and what led to it, each once: authors may make one its own cause."""
    known: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in known:
        yield link
        known.add(id(link))
        link = link.__context__ if link.__cause__ is None else link.__cause__
