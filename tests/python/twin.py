"""A second Cortex of the name /cortex, on another machine, as far as others see it: it says who it is, and stays.

Usage: twin.py earlier|later
It started before or after any other, by its own word. Prints "ready".
"""

import sys

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from lifecycle_msgs.srv import ChangeState
from peer import spin
from rclpy.qos import DurabilityPolicy, QoSProfile

rclpy.init(args=[])
node = rclpy.create_node("cortex")
# By its services the graph tells two nodes of one name apart.
node.create_service(ChangeState, "~/change_state", lambda _request, response: response)
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
started = {"earlier": "1", "later": "99999999999999999999"}[sys.argv[1]]
values = {"process": "12345", "started_ns": started, "id": "a-run-of-its-own"}
identity = DiagnosticStatus(
    name="/cortex",
    message="serves",
    hardware_id="elsewhere",
    values=[KeyValue(key=key, value=value) for key, value in values.items()],
)
node.create_publisher(DiagnosticStatus, "~/instance", latched).publish(identity)
spin(node)
