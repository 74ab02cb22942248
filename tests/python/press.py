"""A press that tells on a topic how far it is, as the component contract says, and lasts three seconds.

With `text` it tells so in words; with `flood` in texts of ten thousand characters as fast as it can; with `nan` in numbers
that are none; with `silent` not at all, although it names the topic.
"""

import json
import math
import sys
import time

import rclpy
from cortex_msgs.srv import DescribeComponent, ExecuteMethod
from peer import spin
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from std_msgs.msg import Float64, String

LASTS_S = 3.0
DESCRIPTION = {
    "contract": 1,
    "summary": "A press.",
    "methods": [
        {
            "name": "squeeze",
            "description": "Squeezes what lies in it and returns when it is flat.",
            "effect": "act",
            "cancel_method": "let_go",
            "progress": "~/squeeze/progress",
            "phrases": ["squeeze it"],
        },
        {"name": "let_go", "description": "Opens the press.", "effect": "act", "resources": []},
    ],
}


def main():
    rclpy.init()
    node = rclpy.create_node("press")
    kind = sys.argv[1]
    group = ReentrantCallbackGroup()
    message = Float64 if kind == "nan" else String
    progress = node.create_publisher(message, "~/squeeze/progress", 10)

    def describe(_request, response):
        response.description_json = json.dumps(DESCRIPTION)
        return response

    def execute(request, response):
        begun = time.monotonic()
        while request.name == "squeeze" and (passed := time.monotonic() - begun) < LASTS_S:
            if kind == "text":
                progress.publish(String(data=f"{passed:.1f} of {LASTS_S} mm"))
            elif kind == "flood":
                progress.publish(String(data="x" * 10_000))
                continue
            elif kind == "nan":
                progress.publish(Float64(data=math.nan))
            time.sleep(0.05)
        response.success, response.response_json = True, json.dumps("flat")
        return response

    node.create_service(DescribeComponent, "~/describe", describe, callback_group=group)
    node.create_service(ExecuteMethod, "~/execute_method", execute, callback_group=group)
    spin(node, executor=MultiThreadedExecutor(num_threads=4))


if __name__ == "__main__":
    main()
