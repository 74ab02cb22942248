"""Prints what is published on /diagnostics, one line of JSON for each message."""

import json

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from peer import spin
from rclpy.node import Node


def tell(message):
    entries = [
        {
            "name": status.name,
            "level": status.level[0],
            "message": status.message,
            "hardware_id": status.hardware_id,
            "values": {pair.key: pair.value for pair in status.values},
        }
        for status in message.status
    ]
    stamp = message.header.stamp.sec + message.header.stamp.nanosec / 1e9
    print(json.dumps({"stamp": stamp, "entries": entries}), flush=True)


def main():
    rclpy.init()
    node = Node("_diagnostics_listener")
    node.create_subscription(DiagnosticArray, "/diagnostics", tell, 10)
    spin(node)


if __name__ == "__main__":
    main()
