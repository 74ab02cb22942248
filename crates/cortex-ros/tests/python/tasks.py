"""Drives the task server as any action client of ROS does. Runs the stories named; prints what comes of each."""

import json
import sys
import uuid

import rclpy
from action_msgs.srv import CancelGoal
from rclpy.action import ActionClient
from rclpy.task import Future
from std_srvs.srv import Trigger
from unique_identifier_msgs.msg import UUID

from cortex_msgs.action import VisionLanguageAction
from cortex_msgs.msg import StreamingString

rclpy.init(args=[])
node = rclpy.create_node("person")
action = ActionClient(node, VisionLanguageAction, "/cortex/task")
said = Future()
node.create_subscription(StreamingString, "/cortex/output", said.set_result, 10)


def wait(future):
    rclpy.spin_until_future_complete(node, future, timeout_sec=20.0)
    assert future.done(), "nothing came in time"
    return future.result()


def call(kind, name, request):
    client = node.create_client(kind, name)
    assert client.wait_for_service(20.0), name
    return wait(client.call_async(request))


def send(task, session="", goal_id=None):
    """Sends a goal; returns its handle and futures of its first and its last feedback."""
    first, last, lines = Future(), Future(), []

    def feedback(message):
        line = message.feedback
        sequence = json.loads(line.event)["sequence"]
        lines.append(f"feedback {line.timestep} {line.completed} {line.feedback} {sequence}")
        if not first.done():
            first.set_result(line)
        if line.completed:
            last.set_result(lines)

    goal = VisionLanguageAction.Goal(task=task, session=session)
    return wait(action.send_goal_async(goal, feedback_callback=feedback, goal_uuid=goal_id)), first, last


def show(label, handle):
    answer = wait(handle.get_result_async())
    print(label, answer.status, answer.result.success, repr(answer.result.output), answer.result.mission)


def story_goal():
    handle, _, last = send("say hello", "kitchen talk")
    print("accepted", handle.accepted)
    print(*wait(last), sep="\n")
    show("result", handle)
    show("again", handle)


def story_failures():
    for task in ("fail", "refuse", "forget", "zero"):
        handle, *_ = send(task)
        show(task, handle)


def story_two():
    slow, first, _ = send("wait slow")
    wait(first)
    quick, *_ = send("say quick")
    show("quick", quick)
    wait(slow.cancel_goal_async())
    show("slow", slow)


def story_cancel():
    handle, first, _ = send("wait here")
    wait(first)
    answer = wait(handle.cancel_goal_async())
    print("canceling", answer.return_code, len(answer.goals_canceling))
    show("result", handle)
    print("late", wait(handle.cancel_goal_async()).return_code)
    everything = call(CancelGoal, "/cortex/task/_action/cancel_goal", CancelGoal.Request())
    print("nothing", everything.return_code, len(everything.goals_canceling))


def story_early():
    handle, *_ = send("say too late")
    print("canceling", len(wait(handle.cancel_goal_async()).goals_canceling))
    show("result", handle)


def story_duplicate():
    goal_id = UUID(uuid=list(uuid.uuid4().bytes))
    first, begun, _ = send("wait twice", goal_id=goal_id)
    wait(begun)
    # The client library refuses to send an id twice, so the second comes from elsewhere.
    kind = VisionLanguageAction.Impl.SendGoalService
    again = kind.Request(goal_id=goal_id, goal=VisionLanguageAction.Goal(task="say twice"))
    print("again", call(kind, "/cortex/task/_action/send_goal", again).accepted)
    print("canceling", len(wait(first.cancel_goal_async()).goals_canceling))
    show("first", first)


def story_unknown():
    kind = VisionLanguageAction.Impl.GetResultService
    request = kind.Request(goal_id=UUID(uuid=list(uuid.uuid4().bytes)))
    answer = call(kind, "/cortex/task/_action/get_result", request)
    print("result", answer.status, answer.result.success, repr(answer.result.output))


def story_stop():
    handle, first, _ = send("wait for the stop")
    wait(first)
    stopped = call(Trigger, "/cortex/stop", Trigger.Request())
    print("stop", stopped.success, stopped.message)
    show("result", handle)
    resumed = call(Trigger, "/cortex/resume", Trigger.Request())
    print("resume", resumed.success, resumed.message)


def story_output():
    print("ready")
    message = wait(said)
    print("said", message.stream, message.done)


def story_shutdown():
    handle, first, _ = send("wait for the end")
    wait(first)
    print("begun")
    show("result", handle)


assert action.wait_for_server(20.0)
for name in sys.argv[1:]:
    globals()[f"story_{name}"]()
    print("done", name)
node.destroy_node()
rclpy.shutdown()
