"""A managed node (`rclpy.lifecycle`) that knows nothing of Cortex and has no heartbeat: `managed.py NAME [--folds]`.

With `--folds` it has an action `/fold`, whose goals neither get on nor end, not even when they are cancelled.

What stops it is a signal from outside: with SIGSTOP its process and its node stay, and no question is answered any more."""

import os
import sys
import time

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from test_msgs.action import Fibonacci

# More than any story waits.
FOR_EVER_S = 3600.0


def main():
    rclpy.init()
    node = LifecycleNode(sys.argv[1])
    if "--folds" in sys.argv:
        ActionServer(
            node,
            Fibonacci,
            "/fold",
            lambda goal: time.sleep(FOR_EVER_S),
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
    try:
        rclpy.spin(node, executor=MultiThreadedExecutor(num_threads=4))
    except (KeyboardInterrupt, RCLError, ExternalShutdownException):
        pass  # RCLError: the handler of rclpy ended the context between two looks of the executor.
    # Threads of goals that never end would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main()
