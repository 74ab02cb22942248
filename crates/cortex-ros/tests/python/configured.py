"""A node with parameters of all types.

Prints `ready` when it is served, and `now NAME VALUE` when a parameter was changed.
"""

import sys

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

VALUES = {
    "flag": True,
    "text": "hello",
    "flags": [True, False],
    "whole_numbers": [1, -2],
    "numbers": [0.5, 1e300],
    "texts": ["a", "ü"],
    "limits.deep": 7,
}


def check(parameters):
    for parameter in parameters:
        if parameter.value == "forbidden":
            return SetParametersResult(successful=False, reason="that word is forbidden")
        print("now", parameter.name, repr(parameter.value), flush=True)
    return SetParametersResult(successful=True)


rclpy.init(args=[])
node = Node("configured", namespace="/deep/down", allow_undeclared_parameters="--open" in sys.argv)
for name, value in VALUES.items():
    node.declare_parameter(name, value)
node.declare_parameter("raw", None, ParameterDescriptor(dynamic_typing=True))
node.set_parameters([Parameter("raw", Parameter.Type.BYTE_ARRAY, [b"\x00", b"\xff"])])
node.declare_parameter("fixed", "stone", ParameterDescriptor(read_only=True, description="Never changes."))
steps = IntegerRange(from_value=0, to_value=10, step=5)
node.declare_parameter("count", 5, ParameterDescriptor(integer_range=[steps], additional_constraints="Fives."))
speed = FloatingPointRange(from_value=-1.5, to_value=1.5, step=0.0)
node.declare_parameter("speed", 0.25, ParameterDescriptor(floating_point_range=[speed], description="In m/s."))
node.add_on_set_parameters_callback(check)
print("ready", flush=True)
rclpy.spin(node)
