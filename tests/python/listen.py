"""Prints each text for people that Cortex publishes on ~/output, one a line."""

import rclpy
from cortex_msgs.msg import StreamingString
from peer import spin


def main():
    rclpy.init()
    node = rclpy.create_node("listener")
    node.create_subscription(StreamingString, "/cortex/output", lambda heard: print(heard.stream, flush=True), 10)
    spin(node)


if __name__ == "__main__":
    main()
