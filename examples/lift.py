"""A lift that Cortex can use: the component contract with nothing but rclpy."""

import json
import threading
import time

import rclpy
from cortex_msgs.msg import ComponentStatus
from cortex_msgs.srv import DescribeComponent, ExecuteMethod
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

DESCRIPTION = {
    "contract": 1,
    "summary": "A lift that carries the robot's tray up and down.",
    "methods": [
        {
            "name": "move_to",
            "description": "Moves the tray to a height and returns when it is there.",
            "parameters": {
                "type": "object",
                "properties": {
                    "height_m": {
                        "type": "number",
                        "minimum": 0.0,
                        "maximum": 1.2,
                        "description": "Height above the floor, in metres.",
                    }
                },
                "required": ["height_m"],
                "additionalProperties": False,
            },
            "effect": "move",
            "cancel_method": "halt",
            "progress": "~/move_to/progress",
            "phrases": ["lift the tray to {height_m}"],
        },
        {
            "name": "height",
            "description": "Tells how high the tray is.",
            "phase": "both",
            "effect": "observe",
            "phrases": ["how high is the tray"],
        },
        {"name": "halt", "description": "Stops the tray. Returns when it stands.", "effect": "act", "resources": []},
    ],
}
SPEED_MPS = 0.2
STEP_S = 0.02


class Lift(Node):
    def __init__(self):
        super().__init__("lift")
        self.height_m = 0.0
        self.moving = threading.Lock()  # held by the one movement that runs
        self.halts = 0
        # Reentrant, and several threads below: halt must be served while move_to is running.
        group = ReentrantCallbackGroup()
        self.create_service(DescribeComponent, "~/describe", self.describe, callback_group=group)
        self.create_service(ExecuteMethod, "~/execute_method", self.execute, callback_group=group)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.status = self.create_publisher(ComponentStatus, "~/status", latched)
        self.progress = self.create_publisher(String, "~/move_to/progress", 10)
        self.create_timer(1.0, self.beat, callback_group=group)

    def describe(self, _request, response):
        response.description_json = json.dumps(DESCRIPTION)
        return response

    def execute(self, request, response):
        methods = {"move_to": self.move_to, "height": self.height, "halt": self.halt}
        try:
            if request.name not in methods:
                raise ValueError(f"there is no method '{request.name}'")
            arguments = json.loads(request.kwargs_json or "{}")
            response.response_json = json.dumps(methods[request.name](**arguments))
            response.success = True
        except Exception as problem:  # whatever it is, the caller gets an answer
            response.error_msg = str(problem) or type(problem).__name__
            response.success = False
        return response

    def beat(self):
        self.status.publish(ComponentStatus(stamp=self.get_clock().now().to_msg(), status=ComponentStatus.HEALTHY))

    def move_to(self, height_m):
        halts = self.halts  # a halt from here on is meant for this movement
        if not 0.0 <= height_m <= 1.2:
            raise ValueError("the tray reaches from 0 to 1.2 m")
        if not self.moving.acquire(blocking=False):
            raise RuntimeError("the tray is moving already")
        try:
            while self.height_m != height_m:
                if self.halts != halts:
                    raise RuntimeError("cancelled")
                time.sleep(STEP_S)
                self.progress.publish(String(data=f"at {self.height_m:.2f} of {height_m:.2f} m"))
                way = height_m - self.height_m
                step = min(abs(way), SPEED_MPS * STEP_S)
                self.height_m = height_m if step == abs(way) else self.height_m + (step if way > 0 else -step)
            return f"the tray is at {height_m} m"
        finally:
            self.moving.release()

    def height(self):
        return {"height_m": round(self.height_m, 3), "text": f"The tray is {self.height_m:.2f} m high."}

    def halt(self):
        self.halts += 1
        if not self.moving.acquire(timeout=2.0):  # answers only at rest
            raise RuntimeError("the tray is still moving after 2 s")
        self.moving.release()
        return "the tray stands"


def main():
    rclpy.init()
    lift = Lift()
    executor = MultiThreadedExecutor(num_threads=4)
    executor.add_node(lift)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        # Ctrl-C ends the context of ROS at any moment, also when the executor is about to wait for it.
        if rclpy.ok():
            raise


if __name__ == "__main__":
    main()
