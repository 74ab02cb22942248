"""Action servers that misbehave, each in the way that its name says: `bad_goals.py rejects dies` offers the actions
`rejects` and `dies`, in the namespace that is remapped to. What a server makes of a goal is told in lines of JSON; a goal
is known by its `order`, which callers make unique."""

import argparse
import json
import os
import time

import rclpy
from peer import spin
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from test_msgs.action import Fibonacci

# More than any story waits.
FOR_EVER = 3600.0
# A flood that is ten times as fast as anybody reads.
FLOOD_PERIOD = 0.001


def tell(server, order, event):
    line = json.dumps({"server": server, "order": order, "event": event})
    # In one piece: the goals are carried out by many threads.
    os.write(1, f"{line}\n".encode())


class BadServer:
    """The well-behaved parts; each kind of server replaces one of them."""

    def __init__(self, node, name, seconds):
        self.name = name
        self.seconds = seconds
        self.server = ActionServer(
            node,
            Fibonacci,
            name,
            self.execute,
            goal_callback=self.asked,
            cancel_callback=self.asked_to_cancel,
            callback_group=ReentrantCallbackGroup(),
        )

    def asked(self, request):
        tell(self.name, request.order, "accepted")
        return GoalResponse.ACCEPT

    def asked_to_cancel(self, goal):
        return CancelResponse.ACCEPT

    def execute(self, goal):
        """Works for its time with feedback ten times a second, and stops when it is told to."""
        order = goal.request.order
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline:
            self.give_feedback(goal)
            if goal.is_cancel_requested:
                return self.end(goal, goal.canceled, "canceled")
            time.sleep(0.1)
        return self.end(goal, goal.succeed, "succeeded")

    def give_feedback(self, goal):
        goal.publish_feedback(Fibonacci.Feedback(sequence=[goal.request.order]))

    def end(self, goal, settle, event):
        # Told first: what was told of a goal has then surely been decided, whenever this process dies.
        tell(self.name, goal.request.order, event)
        settle()
        return Fibonacci.Result(sequence=[goal.request.order])


class Works(BadServer):
    pass


class Rejects(BadServer):
    def asked(self, request):
        tell(self.name, request.order, "rejected")
        return GoalResponse.REJECT


class Aborts(BadServer):
    def execute(self, goal):
        time.sleep(self.seconds / 2)
        return self.end(goal, goal.abort, "aborted")


class AcceptsLate(BadServer):
    def asked(self, request):
        time.sleep(1.0)
        return super().asked(request)


class NeverAccepts(BadServer):
    def asked(self, request):
        tell(self.name, request.order, "ignored")
        time.sleep(FOR_EVER)


class IgnoresCancel(BadServer):
    """Says that it cancels, and goes on."""

    def execute(self, goal):
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline:
            time.sleep(0.1)
        return self.end(goal, goal.succeed, "succeeded")


class RefusesCancel(IgnoresCancel):
    def asked_to_cancel(self, goal):
        tell(self.name, goal.request.order, "refused to cancel")
        return CancelResponse.REJECT


class Floods(BadServer):
    def execute(self, goal):
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline and not goal.is_cancel_requested:
            self.give_feedback(goal)
            time.sleep(FLOOD_PERIOD)
        if goal.is_cancel_requested:
            return self.end(goal, goal.canceled, "canceled")
        return self.end(goal, goal.succeed, "succeeded")


class Stalls(BadServer):
    """Gives one feedback and then no more."""

    def execute(self, goal):
        self.give_feedback(goal)
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline and not goal.is_cancel_requested:
            time.sleep(0.05)
        if goal.is_cancel_requested:
            return self.end(goal, goal.canceled, "canceled")
        return self.end(goal, goal.succeed, "succeeded")


class Dies(BadServer):
    """Takes the whole process with it, in mid goal and without a goodbye."""

    def execute(self, goal):
        self.give_feedback(goal)
        time.sleep(self.seconds / 2)
        tell(self.name, goal.request.order, "died")
        os._exit(1)


KINDS = {
    "works": Works,
    "rejects": Rejects,
    "aborts": Aborts,
    "accepts_late": AcceptsLate,
    "never_accepts": NeverAccepts,
    "ignores_cancel": IgnoresCancel,
    "refuses_cancel": RefusesCancel,
    "floods": Floods,
    "stalls": Stalls,
    "dies": Dies,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="+", choices=KINDS)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a goal takes")
    options = parser.parse_args(rclpy.utilities.remove_ros_args()[1:])
    rclpy.init()
    node = Node("bad_goals")
    for kind in options.kinds:
        KINDS[kind](node, kind, options.seconds)
    # A thread for each goal of a soak, and some that never come back.
    spin(node, executor=MultiThreadedExecutor(num_threads=64))


if __name__ == "__main__":
    main()
