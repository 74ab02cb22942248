"""Reads and writes messages as rclpy does, for comparison: one JSON request on each line of the input.

{"type": "test_msgs/msg/Arrays", "bytes": "<base64>"} answers with the message as exact JSON;
{"type": ..., "json": {...}} answers with the message as base64 of what rclpy serialises.
No node is made and nothing goes over a network.
"""

import array
import base64
import importlib
import json
import math
import re
import sys

import numpy
from rclpy.serialization import deserialize_message, serialize_message

ACTION_PARTS = {
    "Goal": lambda action: action.Goal,
    "Result": lambda action: action.Result,
    "Feedback": lambda action: action.Feedback,
    "FeedbackMessage": lambda action: action.Impl.FeedbackMessage,
    "SendGoal_Request": lambda action: action.Impl.SendGoalService.Request,
    "SendGoal_Response": lambda action: action.Impl.SendGoalService.Response,
    "GetResult_Request": lambda action: action.Impl.GetResultService.Request,
    "GetResult_Response": lambda action: action.Impl.GetResultService.Response,
}


def type_named(name):
    package, kind, name = name.split("/")
    module = importlib.import_module(f"{package}.{kind}")
    stem, _, part = name.partition("_")
    found = getattr(module, stem)
    if kind == "srv" and part:
        return getattr(found, part)
    if kind == "action" and part:
        return ACTION_PARTS[part](found)
    return found


def parse_type(text):
    """The element of a field, and whether it is a list."""
    listed = re.fullmatch(r"sequence<(.+?)(?:, \d+)?>", text) or re.fullmatch(r"(.+)\[\d+\]", text)
    return (listed.group(1), True) if listed else (text, False)


def element_to_json(kind, value):
    if kind == "octet":
        return value[0]
    if kind == "boolean":
        return bool(value)
    if kind in ("float", "double"):
        value = float(value)
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if kind == "char":
        return ord(value) if isinstance(value, str) else int(value)
    if "/" in kind:
        return to_json(value)
    if kind.startswith(("string", "wstring")):
        return value
    return ord(value) if isinstance(value, str) else int(value)


def to_json(message):
    fields = {}
    for name, text in message.get_fields_and_field_types().items():
        kind, is_list = parse_type(text)
        value = getattr(message, name)
        fields[name] = [element_to_json(kind, item) for item in value] if is_list else element_to_json(kind, value)
    return fields


def element_from_json(kind, value):
    if kind == "octet":
        return bytes([value])
    if kind in ("float", "double"):
        return float(value)
    if "/" in kind:
        return from_json(type_named(kind.replace("/", "/msg/") if kind.count("/") == 1 else kind), value)
    return value


def from_json(message_type, value):
    message = message_type()
    for name, text in message.get_fields_and_field_types().items():
        kind, is_list = parse_type(text)
        if is_list:
            setattr(message, name, like(getattr(message, name), [element_from_json(kind, item) for item in value[name]]))
        elif "/" in kind:
            # The nested type by what is there: the names of parts of actions are not importable.
            setattr(message, name, from_json(type(getattr(message, name)), value[name]))
        else:
            setattr(message, name, element_from_json(kind, value[name]))
    return message


def like(present, items):
    """A list of the kind that the field holds."""
    if isinstance(present, array.array):
        return array.array(present.typecode, items)
    if isinstance(present, numpy.ndarray):
        return numpy.array(items, dtype=present.dtype)
    return items


def answer(request):
    message_type = type_named(request["type"])
    if "bytes" in request:
        return to_json(deserialize_message(base64.b64decode(request["bytes"]), message_type))
    return base64.b64encode(serialize_message(from_json(message_type, request["json"]))).decode()


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"ok": answer(request)}
        except Exception as error:  # What is wrong with one message is told, and the next one is read.
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
