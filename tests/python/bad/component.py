"""A component that goes wrong as its process does, and not only its answers: `component.py FAULT [options]`.

It keeps the component contract until its fault begins: `--after` seconds after its node is up, or, with the fault
`works`, when the name of a fault is published on `~/fault` (`std_msgs/String`). What breaks the contract only in its
answers is `cortex-misbehave`.

`--notes FILE` gets a line for each thing that really happened: `NAME start` for each start of its process, `NAME fault
FAULT`, `NAME began TOKEN` and `NAME did TOKEN` or `NAME halted TOKEN` for each piece of work, `NAME was told to halt` for
each halt. With `--times N` only the first N starts of the notes go wrong."""

import argparse
import contextlib
import json
import os
import queue
import random
import signal
import sys
import threading
import time

import rclpy
from cortex_msgs.msg import ComponentStatus
from cortex_msgs.srv import DescribeComponent, ExecuteMethod
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy._rclpy_pybind11 import RCLError
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

FAULTS = {
    "works": "keeps the contract",
    "crashes_at_start": "its process ends before its node is there",
    "crashes": "its process ends by a segmentation fault",
    "crashes_at_random": "as above, after a random time of `--after` seconds in the middle",
    "hangs": "its process and its node stay, and nothing is done any more, not even on SIGTERM",
    "ignores_sigterm": "goes silent, and SIGTERM changes nothing",
    "eats_memory": "takes memory until the kernel kills it; see memory_limit.py",
    "goes_silent": "its heartbeat stops; it still answers",
    "publishes_garbage": "its health is nonsense, a hundred times a second",
    "does_not_execute": "describes itself, and answers no call",
    "announce_hangs": "`announce`, which nothing halts, is not answered; the rest works",
    "comes_back_as_another": "its process ends, and the next one has another name",
    "flaps": "says that it fails and that it works, by turns",
    "fails": "says that it fails",
    "errs_once": "says ERROR on `/diagnostics`, once",
}
# Between two turns of one that flaps, in heartbeats.
FLAP_BEATS = 0.4
GARBAGE_PERIOD_S = 0.01
# More than any story waits.
FOR_EVER_S = 3600.0

DESCRIPTION = {
    "contract": 1,
    "summary": "A tray that can be shaken.",
    "methods": [
        {
            "name": "shake",
            "description": "Shakes the tray for a while and returns when it is done.",
            "parameters": {
                "type": "object",
                "properties": {
                    "token": {"type": "string", "maxLength": 64, "description": "What this time is called."},
                    "seconds": {"type": "number", "minimum": 0, "maximum": 60, "description": "For how long."},
                },
                "required": ["token"],
                "additionalProperties": False,
            },
            "effect": "move",
            "timeout_s": 6,
            "cancel_method": "halt",
            "phrases": ["shake the tray for {token}"],
        },
        {
            "name": "announce",
            "description": "Says aloud that dinner is ready, and returns when it was said. Nothing halts it.",
            "effect": "act",
            "timeout_s": 2,
            "phrases": ["announce dinner"],
        },
        {
            "name": "wind",
            "description": "Winds the tray up. Its motor goes on by itself, and nothing halts it.",
            "effect": "move",
            "timeout_s": 2,
            "outlives_process": True,
            "phrases": ["wind the tray"],
        },
        {"name": "look", "description": "Tells how often the tray was shaken.", "phase": "both", "effect": "observe"},
        {"name": "halt", "description": "Stops shaking.", "effect": "act", "resources": []},
    ],
}


class Notes:
    """What really happened, in a file that outlives the process."""

    def __init__(self, name, path):
        self.name, self.path = name, path

    def add(self, line):
        if self.path:
            # In one piece: several processes and threads may write.
            with open(self.path, "ab", buffering=0) as file:
                file.write(f"{self.name} {line}\n".encode())

    def count(self, line):
        if not self.path or not os.path.exists(self.path):
            return 0
        with open(self.path, encoding="utf-8") as file:
            return sum(1 for noted in file if noted.strip() == f"{self.name} {line}")


class Component(Node):
    def __init__(self, name, options):
        super().__init__(name, enable_rosout=not options.no_log)
        self.heartbeat_s, self.notes, self.work_s = options.heartbeat, Notes(options.name, options.notes), options.work
        self.brake_s, self.is_other = options.brake, options.other
        # Held while the tray is shaken, where it takes a while to stand.
        self.shaking = threading.Lock() if self.brake_s > 0 else contextlib.nullcontext()
        self.faults = set()
        self.hangs = threading.Event()
        self.halts, self.shaken = 0, 0
        group = ReentrantCallbackGroup()
        self.create_service(DescribeComponent, "~/describe", self.describe, callback_group=group)
        self.create_service(ExecuteMethod, "~/execute_method", self.execute, callback_group=group)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.status = self.create_publisher(ComponentStatus, "~/status", latched)
        self.diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(self.heartbeat_s, self.beat, callback_group=group)
        self.told = queue.SimpleQueue()
        self.create_subscription(String, "~/fault", lambda told: self.told.put(told.data), 10, callback_group=group)
        self.say(ComponentStatus.HEALTHY)

    def begin(self, fault):
        """The fault begins now, in this process that worked until now. On the main thread: signals are its own."""
        if fault not in FAULTS or fault in self.faults:
            return
        self.notes.add(f"fault {fault}")
        self.faults.add(fault)
        if fault in ("crashes", "comes_back_as_another"):
            os.kill(os.getpid(), signal.SIGSEGV)
        elif fault == "hangs":
            self.hangs.set()
        elif fault == "ignores_sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif fault == "eats_memory":
            threading.Thread(target=eat_memory, daemon=True).start()
        elif fault == "publishes_garbage":
            self.create_timer(GARBAGE_PERIOD_S, self.publish_garbage)
        elif fault == "flaps":
            self.create_timer(self.heartbeat_s * FLAP_BEATS, self.flap)
        elif fault == "fails":
            self.say(ComponentStatus.COMPONENT, "the tray is jammed")
        elif fault == "errs_once":
            error = DiagnosticStatus(level=DiagnosticStatus.ERROR, name=f"{self.get_name()}: motor", message="too hot")
            self.diagnostics.publish(DiagnosticArray(status=[error]))

    def say(self, status, message=""):
        stamp = self.get_clock().now().to_msg()
        self.status.publish(ComponentStatus(stamp=stamp, status=status, message=message))

    def beat(self):
        if not self.faults & {"goes_silent", "ignores_sigterm", "flaps", "publishes_garbage", "fails"}:
            self.say(ComponentStatus.HEALTHY)
        elif "fails" in self.faults:
            self.say(ComponentStatus.COMPONENT, "the tray is jammed")

    def flap(self):
        self.shaken += 1
        failing = self.shaken % 2 == 1
        self.say(*((ComponentStatus.COMPONENT, "a loose contact") if failing else (ComponentStatus.HEALTHY, "")))

    def publish_garbage(self):
        noise = random.choice(["", "\x00\x1b[2J", "\u202e" * 200, "x" * 100_000, '{"status": 0}'])
        garbage = ComponentStatus(status=random.choice([5, 77, 255]), message=noise, sources=[noise] * 3)
        garbage.stamp.sec = random.choice([-(2**31), 0, 2**31 - 1])
        self.status.publish(garbage)

    def describe(self, _request, response):
        timeouts = {"shake": 2 * self.work_s, "announce": 2 * self.work_s}
        shake, *others = [
            method | {"timeout_s": max(method["timeout_s"], timeouts[method["name"]])}
            if method["name"] in timeouts
            else method
            for method in DESCRIPTION["methods"]
        ]
        if self.is_other:
            force = {"force": {"type": "number", "minimum": 0, "description": "How hard."}}
            parameters = shake["parameters"] | {
                "properties": shake["parameters"]["properties"] | force,
                "required": ["token", "force"],
            }
            shake |= {"parameters": parameters, "phrases": ["shake the tray for {token} with force {force}"]}
        response.description_json = json.dumps(DESCRIPTION | {"methods": [shake, *others]})
        return response

    def execute(self, request, response):
        if "does_not_execute" in self.faults:
            time.sleep(FOR_EVER_S)
        methods = {"shake": self.shake, "announce": self.announce, "wind": self.wind, "look": self.look, "halt": self.halt}
        try:
            if request.name not in methods:
                raise ValueError(f"there is no method '{request.name}'")
            arguments = json.loads(request.kwargs_json or "{}")
            if request.name == "shake" and ("force" in arguments) != self.is_other:
                self.notes.add(f"was called by another schema: {sorted(arguments)}")
            response.response_json = json.dumps(methods[request.name](**arguments))
            response.success = True
        except Exception as problem:  # whatever it is, the caller gets an answer
            response.error_msg = str(problem) or type(problem).__name__
        return response

    def shake(self, token, seconds=None, force=None):
        halts, until = self.halts, time.monotonic() + (self.work_s if seconds is None else seconds)
        self.notes.add(f"began {token}")
        with self.shaking:
            while time.monotonic() < until:
                if self.halts != halts:
                    time.sleep(self.brake_s)
                    self.notes.add(f"halted {token}")
                    raise RuntimeError("cancelled")
                time.sleep(0.02)
        # Noted before it is told: what was told has surely been done, whenever this process dies.
        self.notes.add(f"did {token}")
        return f"the tray was shaken for {token}"

    def announce(self):
        if "announce_hangs" in self.faults:
            time.sleep(FOR_EVER_S)
        self.notes.add("began announce")
        time.sleep(self.work_s)
        self.notes.add("did announce")
        return "dinner is ready"

    def wind(self):
        self.notes.add("did wind")
        return "the tray is wound"

    def look(self):
        return {"text": "The tray is there."}

    def halt(self):
        self.halts += 1
        self.notes.add("was told to halt")
        with self.shaking:
            pass
        return "the tray stands"


def eat_memory():
    """Takes memory as fast as it gets it. Where it is refused some, it ends as the kernel would have ended it."""
    taken = []
    try:
        while True:
            taken.append(bytearray(os.urandom(1 << 12)) * (1 << 11))
    except MemoryError:
        os.kill(os.getpid(), signal.SIGKILL)


def arguments():
    # ROS arguments reach rclpy by themselves.
    own = sys.argv[1 : sys.argv.index("--ros-args")] if "--ros-args" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=FAULTS)
    parser.add_argument("--name", default="tray", help="the name of its node")
    parser.add_argument("--after", type=float, default=1.0, help="seconds from its start until the fault begins")
    parser.add_argument("--heartbeat", type=float, default=0.5, help="seconds between two heartbeats")
    parser.add_argument("--notes", help="the file that gets a line for each thing that happened")
    parser.add_argument("--times", type=int, default=1 << 30, help="how many of its starts go wrong")
    parser.add_argument("--work", type=float, default=0.3, help="seconds that it is shaken where nobody says")
    parser.add_argument("--brake", type=float, default=0.0, help="seconds that it takes to stand once it is told to halt")
    parser.add_argument("--other", action="store_true", help="its method has another schema under the same name")
    parser.add_argument("--no-log", action="store_true", help="it does not log over ROS")
    parser.add_argument("--seed", type=int, default=1, help="of what is random")
    return parser.parse_args(own)


def main():
    options = arguments()
    notes = Notes(options.name, options.notes)
    earlier = notes.count("start")
    notes.add("start")
    is_bad = earlier < options.times
    fault = options.fault if is_bad else "works"
    name, after = options.name, options.after
    if fault == "crashes_at_start":
        print("there is no tray", file=sys.stderr, flush=True)
        sys.exit(3)
    if fault == "crashes_at_random":
        fault, after = "crashes", random.Random(options.seed + earlier).expovariate(1.0 / after)
    if fault == "comes_back_as_another" and earlier > 0:
        name, fault = f"{name}_{earlier + 1}", "works"
    rclpy.init()
    component = Component(name, options)
    executor = MultiThreadedExecutor(num_threads=8)
    executor.add_node(component)
    if fault != "works":
        begins = threading.Timer(after, component.told.put, [fault])
        begins.daemon = True
        begins.start()
    print("ready", flush=True)
    try:
        while not component.hangs.is_set():
            executor.spin_once(timeout_sec=0.1)
            if not component.told.empty():
                component.begin(component.told.get())
        time.sleep(FOR_EVER_S)
    except (KeyboardInterrupt, RCLError, ExternalShutdownException):
        pass  # RCLError: the handler of rclpy ended the context between two looks of the executor.
    # Threads of calls that never end would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main()
