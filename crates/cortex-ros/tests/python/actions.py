"""Servers of the action Fibonacci, well-behaved or not. What a goal does is told by its order.

Prints `ready` when they are served, `accepted ID` when a goal was accepted, and `ended ID STATE` when one has ended.

usage: actions.py proper | raw
"""

import sys
import threading
import time

import rclpy
from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from peer import spin
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from test_msgs.action import Fibonacci
from unique_identifier_msgs.msg import UUID

ABORT = 1000
HOLD = 1001  # until it is cancelled
STUBBORN = 1002  # refuses to be cancelled, and ends by itself after a while
DEAF = 1003  # lets itself be cancelled, and goes on
FLOOD = 1004  # feedback at 1 kHz until it is cancelled
SLOW_TO_ACCEPT = 1005

lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


def hyphenated(uuid):
    text = bytes(uuid).hex()
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def fibonacci(order):
    sequence = [0, 1]
    while len(sequence) < order:
        sequence.append(sequence[-1] + sequence[-2])
    return sequence[:order]


def take(goal):
    if goal.order == SLOW_TO_ACCEPT:
        time.sleep(1.5)
    return GoalResponse.REJECT if goal.order < 0 else GoalResponse.ACCEPT


def may_cancel(handle):
    return CancelResponse.REJECT if handle.request.order == STUBBORN else CancelResponse.ACCEPT


def until_cancelled(handle, pause, feedback):
    while not handle.is_cancel_requested:
        if feedback:
            handle.publish_feedback(feedback)
        time.sleep(pause)


def execute(handle):
    order = handle.request.order
    result = Fibonacci.Result()
    feedback = Fibonacci.Feedback()
    if order == ABORT:
        result.sequence = [7]
        handle.abort()
    elif order in (HOLD, FLOOD):
        feedback.sequence = [order]
        until_cancelled(handle, 0.001 if order == FLOOD else 0.01, feedback if order == FLOOD else None)
        result.sequence = [5]
        handle.canceled()
    elif order == SLOW_TO_ACCEPT:
        end = time.monotonic() + 1.5
        while not handle.is_cancel_requested and time.monotonic() < end:
            time.sleep(0.01)
        result.sequence = [3]
        handle.canceled() if handle.is_cancel_requested else handle.succeed()
    elif order in (STUBBORN, DEAF):
        time.sleep(1.5)
        result.sequence = [3]
        handle.succeed()
    else:
        for length in range(1, order + 1):
            feedback.sequence = fibonacci(length)
            handle.publish_feedback(feedback)
            time.sleep(0.005)
        result.sequence = fibonacci(order)
        handle.succeed()
    say("ended", hyphenated(handle.goal_id.uuid), handle.status)
    return result


def accepted(handle):
    say("accepted", hyphenated(handle.goal_id.uuid))
    handle.execute()


def proper(node):
    return ActionServer(
        node,
        Fibonacci,
        "count",
        execute_callback=execute,
        goal_callback=take,
        handle_accepted_callback=accepted,
        cancel_callback=may_cancel,
        callback_group=ReentrantCallbackGroup(),
    )


def raw(node):
    """An action made by hand: it can send what no proper server would."""
    group = ReentrantCallbackGroup()
    status = node.create_publisher(
        GoalStatusArray, "raw/_action/status", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    )
    feedback = node.create_publisher(Fibonacci.Impl.FeedbackMessage, "raw/_action/feedback", 10)

    def send_goal(request, response):
        response.accepted = True
        goal = request.goal_id
        message = GoalStatusArray()
        for number in range(10_000):
            other = GoalStatus(status=number % 256 - 128)
            other.goal_info = GoalInfo(goal_id=UUID(uuid=list(number.to_bytes(16, "big"))))
            message.status_list.append(other)
        # Ended, then again on its way: what is final stays.
        for state in (GoalStatus.STATUS_EXECUTING, 99, GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_EXECUTING):
            message.status_list.append(GoalStatus(goal_info=GoalInfo(goal_id=goal), status=state))
        status.publish(message)
        for number in range(100):
            foreign = Fibonacci.Impl.FeedbackMessage(goal_id=UUID(uuid=list(number.to_bytes(16, "big"))))
            foreign.feedback.sequence = [number]
            feedback.publish(foreign)
        return response

    asked = {}

    def get_result(request, response):
        goal = bytes(request.goal_id.uuid)
        asked[goal] = asked.get(goal, 0) + 1
        say("asked", hyphenated(goal), asked[goal])
        response.status = GoalStatus.STATUS_SUCCEEDED
        response.result.sequence = [asked[goal]]
        return response

    def babble(_request, response):
        response.status = GoalStatus.STATUS_EXECUTING
        return response

    def cancel(request, response):
        response.return_code = 77
        return response

    def cancel_nobody(request, response):
        response.goals_canceling.append(GoalInfo(goal_id=UUID(uuid=[1] * 16)))
        return response

    def accept(_request, response):
        response.accepted = True
        return response

    kind = Fibonacci.Impl
    node.create_service(kind.SendGoalService, "raw/_action/send_goal", send_goal, callback_group=group)
    node.create_service(CancelGoal, "raw/_action/cancel_goal", cancel, callback_group=group)
    results = node.create_service(kind.GetResultService, "raw/_action/get_result", get_result, callback_group=group)
    # The first question is lost; the second is answered twice.
    original = results.send_response

    def send(response, header):
        if response.result.sequence[0] > 1:
            original(response, header)
            original(response, header)

    results.send_response = send

    node.create_service(kind.SendGoalService, "babble/_action/send_goal", accept, callback_group=group)
    node.create_service(kind.GetResultService, "babble/_action/get_result", babble, callback_group=group)
    node.create_service(CancelGoal, "babble/_action/cancel_goal", cancel_nobody, callback_group=group)

    mute = node.create_service(kind.SendGoalService, "mute/_action/send_goal", accept, callback_group=group)
    mute.send_response = lambda response, header: None
    node.create_service(kind.GetResultService, "mute/_action/get_result", babble, callback_group=group)
    node.create_service(CancelGoal, "mute/_action/cancel_goal", cancel_nobody, callback_group=group)

    # Accepts, and never tells a result. Nothing of it runs, so it can leave the graph in good order at any time.
    node.create_service(kind.SendGoalService, "silent/_action/send_goal", accept, callback_group=group)
    silent = node.create_service(kind.GetResultService, "silent/_action/get_result", babble, callback_group=group)
    silent.send_response = lambda response, header: None
    node.create_service(CancelGoal, "silent/_action/cancel_goal", cancel_nobody, callback_group=group)


rclpy.init(args=[])
node = rclpy.create_node("worker")
server = proper(node) if sys.argv[1] == "proper" else raw(node)
spin(node, executor=MultiThreadedExecutor(num_threads=32))
