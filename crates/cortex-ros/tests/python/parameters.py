"""Asks a node for its parameters and sets them as any tool of ROS does, and prints the answers."""

import sys

import rclpy
from rcl_interfaces.msg import Parameter, ParameterEvent, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)

rclpy.init(args=[])
node = rclpy.create_node("asker")
target = sys.argv[1]


def call(kind, name, request):
    client = node.create_client(kind, f"{target}/{name}")
    assert client.wait_for_service(20.0), name
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=20.0)
    return future.result()


events = []
# As deep as the publisher's, so that nothing that other nodes tell pushes out what is waited for.
node.create_subscription(ParameterEvent, "/parameter_events", events.append, 1000)

listed = call(ListParameters, "list_parameters", ListParameters.Request()).result
print("list", listed.names, listed.prefixes)
names = ["limits.steps", "model", "allow", "nothing"]
values = call(GetParameters, "get_parameters", GetParameters.Request(names=names)).values
print("get", values[0].integer_value, values[1].string_value, values[2].string_array_value, values[3].type)
types = call(GetParameterTypes, "get_parameter_types", GetParameterTypes.Request(names=names)).types
print("types", list(types))
described = call(DescribeParameters, "describe_parameters", DescribeParameters.Request(names=names)).descriptors
steps, _, allow, _ = described
bounds = steps.integer_range[0]
print("describe", steps.name, steps.type, steps.read_only, bounds.from_value, bounds.to_value, steps.description)
print("describe", allow.name, allow.type, allow.read_only, allow.additional_constraints)


def text(name, value):
    return Parameter(name=name, value=ParameterValue(type=4, string_value=value))


def attempt(parameter):
    result = call(SetParameters, "set_parameters", SetParameters.Request(parameters=[parameter])).results[0]
    print("set", result.successful, result.reason)


# The event is lost where the reader has not been found yet.
while node.count_publishers("/parameter_events") < 2:
    rclpy.spin_once(node, timeout_sec=0.05)
attempt(text("model", "other"))
while not any(event.node == target and event.changed_parameters for event in events):
    rclpy.spin_once(node, timeout_sec=5.0)
event = next(event for event in events if event.node == target and event.changed_parameters)
print("event", event.node, event.changed_parameters[0].name, event.changed_parameters[0].value.string_value)
attempt(text("model", "gpt"))
attempt(text("allow", "everything"))
attempt(Parameter(name="limits.steps", value=ParameterValue(type=2, integer_value=100)))
both = [text("model", "third"), text("limits.steps", "many")]
result = call(
    SetParametersAtomically, "set_parameters_atomically", SetParametersAtomically.Request(parameters=both)
).result
model = call(GetParameters, "get_parameters", GetParameters.Request(names=["model"])).values[0].string_value
print("atomically", result.successful, f"{result.reason}; the model is {model}")
node.destroy_node()
rclpy.shutdown()
