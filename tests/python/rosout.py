"""Prints each line of the log of all nodes, as JSON, one a line."""

import json

import rclpy
from peer import spin
from rcl_interfaces.msg import Log
from rclpy.qos import QoSDurabilityPolicy, QoSProfile


def show(line):
    fields = ["level", "name", "msg", "file", "function", "line"]
    shown = {field: getattr(line, field) for field in fields}
    shown["level"] = int.from_bytes(shown["level"], "little") if isinstance(shown["level"], bytes) else shown["level"]
    shown["stamp"] = line.stamp.sec
    print(json.dumps(shown), flush=True)


def main():
    rclpy.init()
    node = rclpy.create_node("log_listener", enable_rosout=False)
    quality = QoSProfile(depth=1000, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(Log, "/rosout", show, quality)
    spin(node)


if __name__ == "__main__":
    main()
