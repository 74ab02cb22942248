"""Calls a `std_srvs/srv/SetBool` a number of times for each line that it reads, and prints how long each call took: in the
way that the documentation of ROS 2 teaches, and in the fastest way that rclpy has without threads."""

import json
import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool


def main():
    service, calls = sys.argv[1], int(sys.argv[2])
    rclpy.init()
    node = Node("call_client")
    client = node.create_client(SetBool, service)
    if not client.wait_for_service(timeout_sec=30.0):
        sys.exit(f"no server at {service}")

    def time_of_call(spin):
        begun = time.perf_counter()
        future = client.call_async(SetBool.Request(data=True))
        spin(future)
        if not future.done():
            sys.exit("no answer")
        return time.perf_counter() - begun

    def as_taught():
        return [time_of_call(lambda future: rclpy.spin_until_future_complete(node, future, None, 30.0)) for _ in range(calls)]

    def as_fast_as_it_can():
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        times = [time_of_call(lambda future: executor.spin_until_future_complete(future, 30.0)) for _ in range(calls)]
        executor.remove_node(node)
        return times

    as_taught()
    print("ready", flush=True)
    for turn, _ in enumerate(sys.stdin):
        print(json.dumps({"turn": turn, "taught": as_taught(), "fast": as_fast_as_it_can()}), flush=True)


if __name__ == "__main__":
    main()
