"""Asks a node for its parameters as any tool of ROS does, and prints the answers."""

import sys

import rclpy
from rcl_interfaces.msg import Parameter, ParameterValue
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


listed = call(ListParameters, "list_parameters", ListParameters.Request()).result
print("list", listed.names, listed.prefixes)
names = ["limits.steps", "model", "nothing"]
values = call(GetParameters, "get_parameters", GetParameters.Request(names=names)).values
print("get", values[0].integer_value, values[1].string_value, values[2].type)
types = call(GetParameterTypes, "get_parameter_types", GetParameterTypes.Request(names=names)).types
print("types", list(types))
described = call(DescribeParameters, "describe_parameters", DescribeParameters.Request(names=names)).descriptors[0]
print("describe", described.name, described.type, described.read_only)
change = [Parameter(name="model", value=ParameterValue(type=4, string_value="other"))]
result = call(SetParameters, "set_parameters", SetParameters.Request(parameters=change)).results[0]
print("set", result.successful, result.reason)
result = call(
    SetParametersAtomically, "set_parameters_atomically", SetParametersAtomically.Request(parameters=change)
).result
print("atomically", result.successful, result.reason)
node.destroy_node()
rclpy.shutdown()
