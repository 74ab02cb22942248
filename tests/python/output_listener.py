"""Prints what Cortex says on `~/output`, a line of JSON for each message."""

import json

import rclpy
from cortex_msgs.msg import StreamingString


def main():
    rclpy.init()
    node = rclpy.create_node("output_listener")
    node.create_subscription(
        StreamingString,
        "/cortex/output",
        lambda message: print(json.dumps({"words": message.stream, "done": message.done}), flush=True),
        10,
    )
    print("ready", flush=True)
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
