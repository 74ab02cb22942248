"""Prints each text for people that Cortex publishes on ~/output, one a line."""

import rclpy
from cortex_msgs.msg import StreamingString
from rclpy.executors import ExternalShutdownException


def main():
    rclpy.init()
    node = rclpy.create_node("listener")
    node.create_subscription(StreamingString, "/cortex/output", lambda heard: print(heard.stream, flush=True), 10)
    print("ready", flush=True)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
