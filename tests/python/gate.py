"""A gate of which nobody has declared what its services do: /gate/open, /gate/paint and /gate/estop_reset, and the parameter
`height`. It prints what reaches it.
"""

import json

import rclpy
from peer import spin
from rcl_interfaces.msg import SetParametersResult
from std_srvs.srv import SetBool, Trigger
from test_msgs.srv import BasicTypes


def tell(event, **details):
    print(json.dumps({"event": event, **details}), flush=True)


def main():
    rclpy.init()
    node = rclpy.create_node("gate")

    def open_gate(request, response):
        tell("opened", data=request.data)
        response.success = True
        return response

    def paint(request, response):
        tell("painted", colour=request.string_value)
        return response

    def reset(_request, response):
        tell("reset")
        response.success = True
        return response

    def change(parameters):
        for parameter in parameters:
            tell("set", name=parameter.name, value=parameter.value)
        return SetParametersResult(successful=True)

    node.declare_parameter("height", 2.0)
    node.add_on_set_parameters_callback(change)
    node.create_service(SetBool, "/gate/open", open_gate)
    node.create_service(BasicTypes, "/gate/paint", paint)
    node.create_service(Trigger, "/gate/estop_reset", reset)
    spin(node)


if __name__ == "__main__":
    main()
