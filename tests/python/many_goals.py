"""An action server that carries out as many goals at a time as come, on one thread: `many_goals.py NAME`. A goal goes on
until it is cancelled. What happens is told in lines of JSON; a goal is known by its `order`.

Like every rclpy server it keeps ten requests to cancel and loses what comes on top while it is busy."""

import json
import sys

import rclpy
from peer import spin
from rclpy.action import ActionServer, CancelResponse
from rclpy.node import Node
from rclpy.task import Future
from test_msgs.action import Fibonacci

# How often is looked whether goals are to end.
LOOK_S = 0.02


class ManyGoals:
    def __init__(self, node, name):
        self.open = []
        self.server = ActionServer(node, Fibonacci, name, self.execute, cancel_callback=self.asked_to_cancel)
        self.timer = node.create_timer(LOOK_S, self.look)

    def tell(self, goal, event):
        print(json.dumps({"order": goal.request.order, "event": event}), flush=True)

    def asked_to_cancel(self, goal):
        self.tell(goal, "asked to cancel")
        return CancelResponse.ACCEPT

    def look(self):
        for goal, ended in [(goal, ended) for goal, ended in self.open if goal.is_cancel_requested]:
            self.open.remove((goal, ended))
            ended.set_result(None)

    async def execute(self, goal):
        self.tell(goal, "begun")
        ended = Future()
        self.open.append((goal, ended))
        await ended
        self.tell(goal, "canceled")
        goal.canceled()
        return Fibonacci.Result(sequence=[goal.request.order])


def main():
    rclpy.init()
    node = Node("many_goals")
    for name in rclpy.utilities.remove_ros_args(sys.argv)[1:]:
        ManyGoals(node, name)
    spin(node)


if __name__ == "__main__":
    main()
