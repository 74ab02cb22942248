"""A component in Python, well-behaved or not, for the tests.

Prints `ready` when it is served, `called METHOD` when a method begins and `ended METHOD` when it ends.
"""

import argparse
import json
import os
import signal
import threading
import time

import rclpy
from peer import spin
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node

from cortex_msgs.msg import ComponentStatus
from cortex_msgs.srv import DescribeComponent, ExecuteMethod

METHODS = [
    {
        "name": "echo",
        "description": "Returns its arguments.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        "effect": "observe",
        "phase": "both",
    },
    {"name": "refuse", "description": "Fails with a reason.", "effect": "act"},
    {"name": "sulk", "description": "Fails without a reason.", "effect": "act"},
    {"name": "babble", "description": "Succeeds with something that is not JSON.", "effect": "act"},
    {"name": "work", "description": "Takes some seconds.", "cancel_method": "halt", "timeout_s": 60.0},
    {"name": "insist", "description": "Takes some seconds and can't be halted."},
    {"name": "halt", "description": "Ends the work.", "effect": "act"},
    {"name": "die", "description": "Kills the process."},
]


class Component(Node):
    def __init__(self, options):
        super().__init__(options.name)
        self.options = options
        self.halted = threading.Event()
        self.declare_parameter("speed", 0.5)
        self.declare_parameter("rooms", ["kitchen", "bedroom"])
        group = ReentrantCallbackGroup()
        if options.heartbeat:
            self.status = self.create_publisher(ComponentStatus, "~/status", 10)
            self.create_timer(0.2, self.beat, callback_group=group)
        self.create_service(ExecuteMethod, "~/execute_method", self.execute, callback_group=group)
        self.create_service(DescribeComponent, "~/describe", self.describe, callback_group=group)

    def beat(self):
        self.status.publish(ComponentStatus(stamp=self.get_clock().now().to_msg(), message="fine"))

    def describe(self, _request, response):
        kind = self.options.describe
        if kind == "slow":
            # More than is waited for in the first three attempts, and far less than in the further ones.
            time.sleep(1.2)
        if kind == "garbage":
            response.description_json = "I am a component"
            return response
        methods = list(METHODS)
        if kind == "partly":
            methods = [METHODS[0], METHODS[0], {"name": "2fast", "description": "Bad name."}, 7]
        response.description_json = json.dumps(
            {"contract": 1, "summary": "A component for tests.", "methods": methods}
        )
        return response

    def execute(self, request, response):
        arguments = json.loads(request.kwargs_json)
        if request.name in ("work", "insist"):
            self.halted.clear()
        print("called", request.name)
        response.success = True
        if request.name == "echo":
            response.response_json = json.dumps(arguments)
        elif request.name == "refuse":
            response.success = False
            response.error_msg = "the way is blocked"
        elif request.name == "sulk":
            response.success = False
        elif request.name == "babble":
            response.response_json = "{done: yes"
        elif request.name in ("work", "insist"):
            halted = self.halted.wait(arguments.get("seconds", 1.0)) and request.name == "work"
            response.success = not halted
            response.error_msg = "halted" if halted else ""
        elif request.name == "halt":
            self.halted.set()
        elif request.name == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        print("ended", request.name)
        return response


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--heartbeat", action="store_true")
    parser.add_argument("--describe", default="well", choices=["well", "garbage", "partly", "slow"])
    parser.add_argument("--one-at-a-time", action="store_true")
    options = parser.parse_args()
    rclpy.init(args=[])
    executor = SingleThreadedExecutor() if options.one_at_a_time else MultiThreadedExecutor(4)
    spin(Component(options), executor=executor)


main()
