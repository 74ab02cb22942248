"""A robot that knows nothing of Cortex: services, actions, topics and parameters of everyday and of odd types.

Usage: robot.py NAME [NAMESPACE] [--no-rosout] [--only OFFER,...]
`slow` is offered only when it is named. An offer that begins with a slash is a topic of that name.
Prints "ready" when everything is served, and "called WHAT" when something is called.
"""

import argparse
import time

import rclpy
from geometry_msgs.msg import Twist
from nav_msgs.msg import OccupancyGrid
from nav_msgs.srv import GetMap
from peer import leaving, spin
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from test_msgs.action import Fibonacci

arguments = argparse.ArgumentParser()
arguments.add_argument("name")
arguments.add_argument("namespace", nargs="?", default="")
arguments.add_argument("--no-rosout", action="store_true")
arguments.add_argument("--only", default="")
options = arguments.parse_args()

rclpy.init(args=[])
node = rclpy.create_node(
    options.name,
    namespace=options.namespace,
    enable_rosout=not options.no_rosout,
)
group = ReentrantCallbackGroup()
only = set(filter(None, options.only.split(",")))


def say(*words):
    print(*words, flush=True)


def offered(what):
    return not only or what in only


def switch(request, response):
    say("called switch", request.data)
    response.success = request.data
    response.message = "it is bright" if request.data else "the bulb is out"
    return response


def never(_request, response):
    say("called never")
    time.sleep(60)
    return response


def slow(_request, response):
    time.sleep(0.2)
    response.success = True
    return response


def leave(_request, response):
    say("called leave")
    leaving.set()
    time.sleep(60)
    return response


def give_map(_request, response):
    response.map = OccupancyGrid()
    response.map.header.frame_id = "map"
    response.map.info.width = 1000
    response.map.info.height = 1000
    response.map.info.resolution = 0.05
    response.map.data = [0] * 1_000_000
    return response


def decide(goal):
    say("called count", goal.order)
    return GoalResponse.REJECT if goal.order < 0 else GoalResponse.ACCEPT


def decide_cancel(handle):
    say("cancel", handle.request.order)
    return CancelResponse.REJECT if handle.request.order == 66 else CancelResponse.ACCEPT


def count(handle):
    """Counts to the order, ten numbers a second. 13 is aborted at its third number."""
    order = handle.request.order
    feedback, result = Fibonacci.Feedback(), Fibonacci.Result()
    numbers = [0, 1]
    while len(numbers) < order:
        if leaving.is_set():
            # Whoever leaves does not end its goals.
            time.sleep(60)
        if handle.is_cancel_requested:
            result.sequence = numbers
            handle.canceled()
            say("canceled", order)
            return result
        if order == 13 and len(numbers) == 3:
            result.sequence = numbers
            handle.abort()
            return result
        numbers.append(numbers[-1] + numbers[-2] if len(numbers) < 40 else 0)
        feedback.sequence = numbers
        handle.publish_feedback(feedback)
        time.sleep(0.001 if order > 900 else 0.1)
    result.sequence = numbers[:order]
    handle.succeed()
    return result


if offered("switch"):
    node.create_service(SetBool, "~/switch", switch, callback_group=group)
if offered("never"):
    node.create_service(Trigger, "~/never", never, callback_group=group)
if "slow" in only:
    # One request at a time: the others stay in the queue.
    node.create_service(Trigger, "~/slow", slow)
if offered("leave"):
    node.create_service(Trigger, "~/leave", leave, callback_group=group)
if offered("map"):
    node.create_service(GetMap, "map", give_map, callback_group=group)
if offered("hidden"):
    node.create_service(Trigger, "_hidden", never, callback_group=group)
if offered("clash"):
    node.create_service(Trigger if options.name.endswith("1") else SetBool, "/clash", never, callback_group=group)
if offered("count"):
    ActionServer(
        node,
        Fibonacci,
        "~/count",
        count,
        goal_callback=decide,
        cancel_callback=decide_cancel,
        callback_group=group,
    )
if offered("topics"):
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_publisher(String, "greeting", latched).publish(String(data="hello, I was said long ago"))
    chatter = node.create_publisher(String, "chatter", 10)
    node.create_timer(0.1, lambda: chatter.publish(String(data="tick")), callback_group=group)
    node.create_publisher(String, "silence", 10)
    node.create_subscription(
        Twist, "cmd_vel", lambda twist: say("drives", twist.linear.x), 10, callback_group=group
    )
for topic in sorted(what for what in only if what.startswith("/")):
    node.create_publisher(String, topic, 10)
if offered("parameters"):
    speed = ParameterDescriptor(
        description="How fast, in m/s.", floating_point_range=[FloatingPointRange(from_value=0.0, to_value=2.0)]
    )
    node.declare_parameter("speed", 0.5, speed)
    node.declare_parameter("serial", "A1", ParameterDescriptor(read_only=True))

spin(node, executor=MultiThreadedExecutor(num_threads=32))
