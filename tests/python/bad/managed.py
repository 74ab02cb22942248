"""A managed node (`rclpy.lifecycle`) that knows nothing of Cortex and has no heartbeat: `managed.py NAME`.

What stops it is a signal from outside: with SIGSTOP its process and its node stay, and no question is answered any more."""

import sys

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode


def main():
    rclpy.init()
    node = LifecycleNode(sys.argv[1])
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
