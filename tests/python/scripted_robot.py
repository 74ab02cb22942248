"""A robot that does what a scenario says: `scripted_robot.py ROBOT.json`. Components serve the component contract by
hand, `send_goal_to_NAME` is an action server. Everything that is called or told to halt is told in lines of JSON.

ROBOT.json is made by `tests/scenarios_on_ros/robot.rs` of `tests/scenarios/*.toml`; docs/scenarios.md says what the
endings mean."""

import json
import os
import sys
import threading
import time
from concurrent.futures import Future

import rclpy
from cortex_msgs.msg import ComponentStatus
from cortex_msgs.srv import DescribeComponent, ExecuteMethod
from peer import spin
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from test_msgs.action import Fibonacci

GOALS = "send_goal_to_"
HEARTBEAT = 0.5


def tell(what, tool, arguments=None):
    # In one piece: the calls are carried out by many threads.
    os.write(1, f"{json.dumps({what: tool, 'arguments': arguments or {}})}\n".encode())


class Call:
    """One call of a tool, as its turn of the script says."""

    def __init__(self, does):
        self.does = does
        self.told_to_halt = threading.Event()
        self.ended = threading.Event()

    def run(self, report):
        """Behaves so until the end: returns (True, JSON text), (False, reason), or None where it was halted."""
        does = self.does
        if self.told_to_halt.wait(does.get("after", 0)):
            return None
        reports = does.get("reports", {"every": 0, "times": 0})
        for number in range(1, reports["times"] + 1):
            if self.told_to_halt.wait(reports["every"]):
                return None
            report(number)
        if "returns" in does:
            return True, json.dumps(does["returns"])
        if "returns_bytes" in does:
            return True, json.dumps("x" * does["returns_bytes"])
        if "fails" in does:
            return False, does["fails"]
        if "bad_response" in does:
            return True, "{ " + does["bad_response"]
        if "lost" in does:
            os._exit(1)
        if "ignores_halt" in does or "refuses_halt" in does:
            threading.Event().wait()
        # runs_until_halted, halts_after, succeeds_when_halted
        self.told_to_halt.wait()
        time.sleep(does.get("halts_after", 0))
        if "succeeds_when_halted" in does:
            return True, json.dumps(does["succeeds_when_halted"])
        return None


class Tool:
    """A tool with the turns of its script; the last one is repeated."""

    def __init__(self, described):
        self.described = described
        self.name = described["name"]
        self.turns = list(described["does"])
        self.running = []

    def next_turn(self):
        return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]

    def begin(self, arguments, turn=None):
        tell("called", self.name, arguments)
        call = Call(turn or self.next_turn())
        self.running.append(call)
        return call


class Component(Node):
    """The methods of one component; `halt_METHOD` halts METHOD."""

    def __init__(self, name, tools):
        super().__init__(name, start_parameter_services=False, enable_rosout=False)
        self.tools = {tool.described["method"]: tool for tool in tools}
        group = ReentrantCallbackGroup()
        self.status = self.create_publisher(ComponentStatus, "~/status", 10)
        self.create_timer(HEARTBEAT, self.beat, callback_group=group)
        self.create_service(ExecuteMethod, "~/execute_method", self.execute, callback_group=group)
        self.create_service(DescribeComponent, "~/describe", self.describe, callback_group=group)

    def beat(self):
        self.status.publish(ComponentStatus(stamp=self.get_clock().now().to_msg()))

    def describe(self, _request, response):
        methods = []
        for name, tool in self.tools.items():
            halt = f"halt_{name}"
            methods.append({**tool.described["describes"], "name": name, "cancel_method": halt})
            methods.append({"name": halt, "description": f"Halts {name}.", "effect": "act", "resources": []})
        response.description_json = json.dumps({"contract": 1, "summary": "Scripted.", "methods": methods})
        return response

    def execute(self, request, response):
        if request.name.startswith("halt_"):
            return self.halt(self.tools[request.name.removeprefix("halt_")], response)
        call = self.tools[request.name].begin(json.loads(request.kwargs_json))
        outcome = call.run(lambda number: None)
        call.ended.set()
        response.success, text = outcome or (False, "cancelled")
        if response.success:
            response.response_json = text
        else:
            response.error_msg = text
        return response

    def halt(self, tool, response):
        call = tool.running[-1]
        tell("halted", tool.name)
        if "refuses_halt" in call.does:
            response.error_msg = "I will not"
            return response
        call.told_to_halt.set()
        # At rest, and only then, it answers.
        call.ended.wait()
        response.success = True
        return response


class Server:
    """An action server."""

    def __init__(self, node, tool):
        self.tool = tool
        self.accepted = []
        self.lock = threading.Lock()
        self.calls = {}
        self.server = ActionServer(
            node,
            Fibonacci,
            "/" + tool.name.removeprefix(GOALS),
            self.execute,
            goal_callback=self.asked,
            cancel_callback=self.asked_to_cancel,
            callback_group=ReentrantCallbackGroup(),
        )

    def asked(self, request):
        turn = self.tool.next_turn()
        if "rejects" in turn:
            tell("called", self.tool.name, {"order": request.order})
            return GoalResponse.REJECT
        self.accepted.append(turn)
        return GoalResponse.ACCEPT

    def call_of(self, goal):
        with self.lock:
            return self.calls.setdefault(bytes(goal.goal_id.uuid), Future())

    def asked_to_cancel(self, goal):
        tell("halted", self.tool.name)
        # It may be asked for before the goal has begun.
        call = self.call_of(goal).result()
        if "refuses_halt" in call.does:
            return CancelResponse.REJECT
        call.told_to_halt.set()
        return CancelResponse.ACCEPT

    def execute(self, goal):
        call = self.tool.begin({"order": goal.request.order}, self.accepted.pop(0))
        self.call_of(goal).set_result(call)
        outcome = call.run(lambda number: goal.publish_feedback(Fibonacci.Feedback(sequence=[number])))
        result = Fibonacci.Result()
        if outcome is None:
            # Whoever halts at once may be asked to before the request to cancel was answered.
            while not goal.is_cancel_requested:
                time.sleep(0.01)
            goal.canceled()
        elif outcome[0]:
            result.sequence = json.loads(outcome[1])["sequence"]
            goal.succeed()
        else:
            goal.abort()
        return result


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tools = [Tool(described) for described in json.load(file)]
    rclpy.init(args=[])
    executor = MultiThreadedExecutor(num_threads=32)
    by_component, servers = {}, []
    goals = [tool for tool in tools if tool.name.startswith(GOALS)]
    for tool in tools:
        if tool not in goals:
            by_component.setdefault(tool.described["component"], []).append(tool)
    for name, of_component in by_component.items():
        executor.add_node(Component(name, of_component))
    if goals:
        node = Node("goals", start_parameter_services=False, enable_rosout=False)
        for tool in goals:
            Server(node, tool)
        executor.add_node(node)
    spin(executor=executor)


if __name__ == "__main__":
    main()
