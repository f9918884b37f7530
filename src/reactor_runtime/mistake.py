"""Mistake: the first thing wrong with what a person or a client wrote, as found and wanted.

One mechanism for manifests, job files and request bodies: what pydantic refuses, and keys that
nobody knows, in the same words everywhere.
"""

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from reactor_runtime.yaml_file import Place, describe

_OWN = "reactor"
_NEAR = 0.85  # difflib ratio from which an unknown key is a slip of the pen
_MAX_KEY = 64  # characters of a key that are compared
_PREFIX = "Input should be "  # of pydantic's own words
_WANTED = {
    "missing": "a value",
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
    "string_too_short": "some text",
    "string_too_long": "at most {max_length} characters",
    "too_long": "at most {max_length} items",
    "finite_number": "a finite number",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "string_type": "text",
    "string_pattern_mismatch": "text like {pattern}",
    "json_invalid": "JSON",
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake.

    Attributes:
        place: The keys that lead to it.
        found: What stands there, in words.
        wanted: What should stand there.
    """

    place: Place
    found: str
    wanted: str

    @property
    def key(self) -> str:
        """The place as ``commands[1].data``; empty for the whole."""
        return _dotted(self.place)

    def __str__(self) -> str:
        return f"found {self.found}; wanted {self.wanted}"


def problem(found: str, wanted: str) -> PydanticCustomError:
    """Return what a validator raises to say it in its own words."""
    return PydanticCustomError(_OWN, "{found}; {wanted}", {"found": found, "wanted": wanted})


def first_mistake(error: ValidationError, model: type[BaseModel], tree: object = None) -> Mistake:
    """Return the first mistake; of several, an unknown key, which may be why another is missing.

    Args:
        error: What validation as a *model* raised.
        model: Whose keys are known.
        tree: What was written, where that is not what was validated.
    """
    errors = error.errors(include_url=False)
    first = min(errors, key=lambda e: e["type"] != "extra_forbidden")
    place = tuple(part for part in first["loc"] if part is not None)
    if first["type"] == "extra_forbidden":
        return _unknown_key(place, model)
    context = first.get("ctx", {})
    if first["type"] == _OWN:
        return Mistake(place=place, found=context["found"], wanted=context["wanted"])
    found = "nothing" if first["type"] == "missing" else describe(_at(tree, place, first["input"]))
    return Mistake(place=place, found=found, wanted=_wanted(first))


def near_miss(key: str, known: Collection[str]) -> str | None:
    """Return the one of *known* that *key* was most likely meant to be."""

    def plain(word: str) -> str:
        return re.sub(r"[^a-z0-9]", "", word.lower())

    for candidate in sorted(known):
        if plain(candidate) == plain(key) or sorted(candidate) == sorted(key):
            return candidate
    close = difflib.get_close_matches(key.lower()[:_MAX_KEY], sorted(known), n=1, cutoff=_NEAR)
    return close[0] if close else None


def _unknown_key(place: Place, model: type[BaseModel]) -> Mistake:
    known = _keys_at(model, place[:-1])
    meant = near_miss(str(place[-1]), known)
    if meant is not None:
        wanted = f"a known one: {_dotted((*place[:-1], meant))}?"
    else:
        wanted = f"one of {', '.join(known)}"
    return Mistake(place=place, found="an unknown key", wanted=wanted)


def _dotted(place: Place) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


def _wanted(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    if error["type"] in ("literal_error", "enum"):
        return str(context["expected"]).replace("'", "")
    form = _WANTED.get(error["type"])
    return form.format(**context) if form is not None else error["msg"].removeprefix(_PREFIX)


def _at(tree: object, place: Place, otherwise: object) -> object:
    for step in place:
        try:
            tree = tree[step]  # type: ignore[index]
        except (LookupError, TypeError):
            return otherwise
    return otherwise if tree is None else tree


def _keys_at(model: type[BaseModel], place: Place) -> list[str]:
    """Return the keys of *model*, or of the model in it that stands at *place*."""
    choices = [model]
    for step in place:
        field = choices[0].model_fields.get(str(step))
        if field is not None:
            choices = _models_in(field.annotation) or choices
        else:  # an item's number, or which of a union's members it is
            choices = [each for each in choices if _is_tagged(each, step)] or choices
    return [field.alias or name for name, field in choices[0].model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that an annotation is, or holds (an optional one, a list, a union)."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]


def _is_tagged(model: type[BaseModel], tag: object) -> bool:
    return any(field.default == tag for field in model.model_fields.values())
