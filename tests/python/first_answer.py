"""A client that has just started sends one task, and prints how long it took to see the server, and from then to the result,
in milliseconds."""

import sys
import time

import rclpy
from cortex_msgs.action import VisionLanguageAction
from rclpy.action import ActionClient
from rclpy.node import Node

# Only guards against hangs.
PATIENCE = 40.0
# `wait_for_server` looks every quarter of a second.
LOOK = 0.002


def finish(node, future):
    rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE)
    if not future.done():
        sys.exit(f"nothing came within {PATIENCE} s")
    return future.result()


def main():
    rclpy.init()
    node = Node("first_answer")
    action = ActionClient(node, VisionLanguageAction, "/cortex/task")
    made = time.monotonic()
    while not action.server_is_ready():
        if time.monotonic() > made + PATIENCE:
            sys.exit("no action server at /cortex/task")
        time.sleep(LOOK)
    seen = time.monotonic()
    goal = finish(node, action.send_goal_async(VisionLanguageAction.Goal(task=sys.argv[1])))
    accepted = time.monotonic()
    finish(node, goal.get_result_async())
    answered = time.monotonic()
    times = (seen - made, answered - seen, accepted - seen)
    print("milliseconds", *(round(1e3 * took) for took in times), flush=True)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
