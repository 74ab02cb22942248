"""Gives Cortex one task, shows how it gets on, and ends with 0 only if it succeeded: `send.py "lift the tray to 0.4"`."""

import signal
import sys

import rclpy
from cortex_msgs.action import VisionLanguageAction
from rclpy.action import ActionClient
from rclpy.signals import SignalHandlerOptions


def wait_for(node, future):
    # In short turns: Python sees Ctrl-C only between them.
    while not future.done():
        rclpy.spin_until_future_complete(node, future, timeout_sec=0.1)
    return future.result()


def send(node, task):
    """The result of the task; None where Cortex refused it."""
    client = ActionClient(node, VisionLanguageAction, "/cortex/task")
    client.wait_for_server()
    sending = client.send_goal_async(
        VisionLanguageAction.Goal(task=task), feedback_callback=lambda message: print(message.feedback.feedback, flush=True)
    )
    try:
        goal = wait_for(node, sending)
        return wait_for(node, goal.get_result_async()).result if goal.accepted else None
    except KeyboardInterrupt:
        # It may have been accepted since. The robot is at rest when the result is there.
        goal = wait_for(node, sending)
        if not goal.accepted:
            return None
        wait_for(node, goal.cancel_goal_async())
        return wait_for(node, goal.get_result_async()).result


def main():
    # The handlers of rclpy end the context of ROS on Ctrl-C, and nothing can be cancelled after that.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    result = send(rclpy.create_node("send"), " ".join(sys.argv[1:]))
    print(result.output if result else "Cortex takes no tasks now: `cortex status` says why.")
    return 0 if result and result.success else 1


if __name__ == "__main__":
    sys.exit(main())
