"""Gives Cortex one task, shows how it gets on, and ends with 0 only if it succeeded: `send.py "lift the tray to 0.4"`."""

import sys

import rclpy
from cortex_msgs.action import VisionLanguageAction
from rclpy.action import ActionClient


def send(node, task):
    """The result of the task; None where Cortex refused it."""
    client = ActionClient(node, VisionLanguageAction, "/cortex/task")
    client.wait_for_server()
    sending = client.send_goal_async(
        VisionLanguageAction.Goal(task=task), feedback_callback=lambda message: print(message.feedback.feedback)
    )
    rclpy.spin_until_future_complete(node, sending)
    goal = sending.result()
    if not goal.accepted:
        return None
    ending = goal.get_result_async()
    try:
        rclpy.spin_until_future_complete(node, ending)
    except KeyboardInterrupt:
        # The robot is at rest when the result is there.
        rclpy.spin_until_future_complete(node, goal.cancel_goal_async())
        rclpy.spin_until_future_complete(node, ending)
    return ending.result().result


def main():
    rclpy.init()
    result = send(rclpy.create_node("send"), " ".join(sys.argv[1:]))
    print(result.output if result else "Cortex takes no tasks now: `cortex status` says why.")
    return 0 if result and result.success else 1


if __name__ == "__main__":
    sys.exit(main())
