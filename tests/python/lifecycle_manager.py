"""Manages one node as Nav2's lifecycle manager does, without a bond: it asks for transitions by their numbers, and looks
at the state after each. Reads commands, one a line, and prints what came of each as one line of JSON.

`startup`, `pause`, `resume`, `reset` and `shutdown` are what the manager's service takes; `set NAME TEXT` sets a
parameter; `events` tells of the transitions so far.
"""

import json
import sys

import rclpy
from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node

# Only guards against hangs.
PATIENCE = 20.0

CONFIGURE = (Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE)
CLEAN_UP = (Transition.TRANSITION_CLEANUP, State.PRIMARY_STATE_UNCONFIGURED)
ACTIVATE = (Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE)
DEACTIVATE = (Transition.TRANSITION_DEACTIVATE, State.PRIMARY_STATE_INACTIVE)
SHUT_DOWN = (Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, State.PRIMARY_STATE_FINALIZED)

COMMANDS = {
    "startup": [CONFIGURE, ACTIVATE],
    "pause": [DEACTIVATE],
    "resume": [ACTIVATE],
    "reset": [DEACTIVATE, CLEAN_UP],
    "shutdown": [DEACTIVATE, CLEAN_UP, SHUT_DOWN],
}


class Manager(Node):
    def __init__(self, target):
        super().__init__("lifecycle_manager_navigation")
        self.events = []
        self.create_subscription(TransitionEvent, f"{target}/transition_event", self.on_event, 50)
        services = {
            "change_state": ChangeState,
            "get_state": GetState,
            "get_available_states": GetAvailableStates,
            "get_available_transitions": GetAvailableTransitions,
            "get_transition_graph": GetAvailableTransitions,
            "set_parameters": SetParameters,
        }
        self.clients_by_name = {name: self.create_client(kind, f"{target}/{name}") for name, kind in services.items()}

    def on_event(self, event):
        self.events.append(f"{event.start_state.label} {event.transition.label} {event.goal_state.label}")

    def call(self, name, request):
        client = self.clients_by_name[name]
        if not client.wait_for_service(PATIENCE):
            sys.exit(f"no service {name}")
        future = client.call_async(request)
        rclpy.spin_until_future_complete(self, future, timeout_sec=PATIENCE)
        if not future.done():
            sys.exit(f"no answer from {name}")
        return future.result()

    def state(self):
        return self.call("get_state", GetState.Request()).current_state

    def carry_out(self, command):
        for number, wanted in COMMANDS[command]:
            # The last state that a manager has seen may be out of date; Nav2's asks for the transition all the same.
            changed = self.call("change_state", ChangeState.Request(transition=Transition(id=number))).success
            if not changed:
                return False
            if number != Transition.TRANSITION_UNCONFIGURED_SHUTDOWN and self.state().id != wanted:
                return False
        return True

    def set(self, name, text):
        parameter = Parameter(name=name, value=ParameterValue(type=4, string_value=text))
        result = self.call("set_parameters", SetParameters.Request(parameters=[parameter])).results[0]
        return {"done": result.successful, "reason": result.reason}

    def told(self):
        transitions = self.call("get_available_transitions", GetAvailableTransitions.Request()).available_transitions
        graph = self.call("get_transition_graph", GetAvailableTransitions.Request()).available_transitions
        states = self.call("get_available_states", GetAvailableStates.Request()).available_states
        return {
            "events": self.events,
            "available": [one.transition.label for one in transitions],
            "graph": len(graph),
            "states": len(states),
        }


def main():
    rclpy.init()
    manager = Manager(sys.argv[1])
    # Transitions that come before the subscription is known to the node are not heard. It is told of it before it is told
    # of the clients, so one that answers knows it.
    manager.state()
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split(maxsplit=2)
        if command == "set":
            answer = manager.set(*(argument.strip() for argument in arguments))
        elif command == "events":
            answer = manager.told()
        else:
            answer = {"done": manager.carry_out(command)}
            if command != "shutdown":
                answer["state"] = manager.state().label
        print(json.dumps({"command": line.strip(), **answer}), flush=True)


if __name__ == "__main__":
    main()
