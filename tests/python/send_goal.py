"""Sends one task to Cortex as any ROS 2 client would, and prints what came of it as one line of JSON."""

import argparse
import json
import sys
import time

import rclpy
from action_msgs.msg import GoalStatus
from cortex_msgs.action import VisionLanguageAction
from cortex_msgs.msg import StreamingString
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

# Only guards against hangs.
PATIENCE = 40.0
STATUSES = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
}


class Client(Node):
    def __init__(self, options):
        super().__init__("story_client")
        self.options = options
        self.feedback = []
        self.said = []
        self.cancelling = None
        self.goal_handle = None
        self.action = ActionClient(self, VisionLanguageAction, "/cortex/task")
        self.triggers = {name: self.create_client(Trigger, f"/cortex/{name}") for name in ("stop", "resume")}
        self.create_subscription(StreamingString, "/cortex/output", lambda message: self.said.append(message.stream), 10)

    def on_feedback(self, message):
        feedback = message.feedback
        # `ros2 action send_goal --feedback` writes each message as YAML, which takes some milliseconds.
        time.sleep(self.options.write_s)
        self.feedback.append(
            {
                "timestep": feedback.timestep,
                "completed": feedback.completed,
                "feedback": feedback.feedback,
                "event": feedback.event,
            }
        )
        self.end_early()

    def end_early(self):
        """Cancels or stops once it is time to, and the goal is known to be accepted: feedback may come first."""
        if self.cancelling is not None or self.goal_handle is None:
            return
        lines = [line["feedback"] for line in self.feedback]
        if self.options.cancel_after and any(line.endswith(self.options.cancel_after) for line in lines):
            self.cancelling = self.goal_handle.cancel_goal_async()
        elif self.options.stop_after and any(line.endswith(self.options.stop_after) for line in lines):
            self.cancelling = self.triggers["stop"].call_async(Trigger.Request())

    def wait(self, future, what):
        rclpy.spin_until_future_complete(self, future, timeout_sec=PATIENCE)
        if not future.done():
            sys.exit(f"{what}: nothing came within {PATIENCE} s")
        return future.result()

    def run(self):
        if not self.action.wait_for_server(timeout_sec=PATIENCE):
            sys.exit("no action server at /cortex/task")
        # A request to a service that is not known yet is lost.
        if self.options.stop_after and not self.triggers["stop"].wait_for_service(timeout_sec=PATIENCE):
            sys.exit("no service /cortex/stop")
        if self.options.resume:
            self.triggers["resume"].wait_for_service(timeout_sec=PATIENCE)
            self.wait(self.triggers["resume"].call_async(Trigger.Request()), "resume")
        goal = VisionLanguageAction.Goal(task=self.options.task)
        self.goal_handle = self.wait(self.action.send_goal_async(goal, feedback_callback=self.on_feedback), "goal")
        if not self.goal_handle.accepted:
            sys.exit("the goal was refused")
        self.end_early()
        result = self.wait(self.goal_handle.get_result_async(), "result")
        # `ros2 action send_goal` leaves here.
        completed = any(line["completed"] for line in self.feedback)
        if self.cancelling is not None:
            self.wait(self.cancelling, "cancel or stop")
        # The words travel on another way than the result. (rclpy drops feedback that comes after the result.)
        expects_words = result.status == GoalStatus.STATUS_SUCCEEDED
        deadline = time.monotonic() + PATIENCE
        while expects_words and not self.said:
            if time.monotonic() > deadline:
                sys.exit(f"the words never came; feedback: {self.feedback}")
            rclpy.spin_once(self, timeout_sec=0.1)
        return {
            "status": STATUSES.get(result.status, str(result.status)),
            "success": result.result.success,
            "output": result.result.output,
            "mission": result.result.mission,
            "feedback": self.feedback,
            "completed": completed,
            "said": self.said,
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("--cancel-after", help="cancel once a feedback line ends with this")
    parser.add_argument("--stop-after", help="call ~/stop once a feedback line ends with this")
    parser.add_argument("--write-s", type=float, default=0.0, help="how long each feedback takes to be written")
    parser.add_argument("--resume", action="store_true", help="call ~/resume first")
    rclpy.init()
    client = Client(parser.parse_args())
    report = client.run()
    print(json.dumps(report))
    client.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
