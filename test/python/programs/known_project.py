"""Hooks of Schemathesis: three of four requests that name a project that could exist ask about one that does."""

import json
import re
from zlib import crc32

import schemathesis

KNOWN = "acme/known"
PROJECT = re.compile(r"^[^/]+/[^/]+$")


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, (dict, list)) or chance(body) == 0:
        return body
    return with_known(body)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if {"entity", "project"} <= (path_parameters or {}).keys() and chance(path_parameters) != 0:
        entity, project = KNOWN.split("/")
        return path_parameters | {"entity": entity, "project": project}
    return path_parameters


def with_known(value):
    if isinstance(value, list):
        return [with_known(one) for one in value]
    if not isinstance(value, dict):
        return value
    known = {name: with_known(inner) for name, inner in value.items()}
    project = known.get("project_id")
    if isinstance(project, str) and PROJECT.match(project):
        known["project_id"] = KNOWN
    return known


def chance(value) -> int:
    """The same for the same value, so that a seed repeats a run."""
    return crc32(json.dumps(value, sort_keys=True, default=str).encode()) % 4
