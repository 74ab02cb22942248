"""Services and topics of hard types, and servers that answer late, twice or never.

Prints `ready` when they are served, and `got SERVICE_OR_TOPIC BASE64` with what rclpy received, as rclpy serialises it.
"""

import base64
import sys
import threading

import rclpy
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav_msgs.msg import Path
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from std_srvs.srv import SetBool, Trigger
from test_msgs.msg import Nested, UnboundedSequences, WStrings
from test_msgs.srv import Arrays, BasicTypes

LATE = 1.0


def report(name, message):
    print("got", name, base64.b64encode(serialize_message(message)).decode(), flush=True)


def copy(name):
    def answer(request, response):
        report(name, request)
        for field in response.get_fields_and_field_types():
            setattr(response, field, getattr(request, field))
        return response

    return answer


def switch(request, response):
    response.success = request.data
    response.message = "on" if request.data else "off"
    return response


def state(_request, response):
    response.current_state.id = State.PRIMARY_STATE_INACTIVE
    response.current_state.label = "inactive"
    return response


count = 0


def number(_request, response):
    global count
    count += 1
    response.success = True
    response.message = str(count)
    print("counted", count, flush=True)
    return response


def trigger_service(node, name, send):
    """A service that answers with the number of the request, sent as `send` does it."""
    service = node.create_service(Trigger, name, number)
    original = service.send_response
    service.send_response = lambda response, header: send(lambda: original(response, header))


def main():
    rclpy.init(args=[])
    node = rclpy.create_node("peer", namespace=sys.argv[1] if len(sys.argv) > 1 else "")
    node.create_service(Arrays, "copy_arrays", copy("copy_arrays"))
    node.create_service(BasicTypes, "copy_basic", copy("copy_basic"))
    node.create_service(SetBool, "switch", switch)
    trigger_service(node, "late", lambda answer: threading.Timer(LATE, answer).start())
    trigger_service(node, "never", lambda answer: None)
    trigger_service(node, "twice", lambda answer: (answer(), answer()))

    # As every managed node has it; rclpy has no ready-made one in all versions.
    node.create_service(GetState, "~/get_state", state)

    reliable = QoSProfile(depth=10)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    sensor = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    topics = {
        "path": (Path, reliable),
        "image": (Image, sensor),
        "nested": (Nested, latched),
        "sequences": (UnboundedSequences, reliable),
        "wide": (WStrings, reliable),
    }
    for name, (kind, quality) in topics.items():
        publisher = node.create_publisher(kind, f"{name}_out", quality)

        def repeat(message, name=name, publisher=publisher):
            report(name, message)
            publisher.publish(message)

        node.create_subscription(kind, f"{name}_in", repeat, quality)
    print("ready", flush=True)
    rclpy.spin(node)


main()
