"""Services that misbehave, each in the way that its name says: `bad_services.py answers_late` offers `/answers_late`,
a `std_srvs/srv/SetBool`. `--flap` makes a further node come and go."""

import argparse
import os
import threading
import time

import rclpy
from peer import spin
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

# More than any story waits.
FOR_EVER = 3600.0
# How long a flapping node stays, and stays away.
FLAP_PERIOD = 0.2


def answered(request, response):
    response.success = True
    response.message = f"it is {request.data}"
    return response


def answers_late(request, response):
    time.sleep(2.0)
    return answered(request, response)


def never_answers(request, response):
    time.sleep(FOR_EVER)


def refuses(request, response):
    response.success = False
    response.message = "not today"
    return response


def dies(request, response):
    os._exit(1)


KINDS = {
    "works": answered,
    "answers_late": answers_late,
    "never_answers": never_answers,
    "answers_twice": answered,
    "refuses": refuses,
    "dies": dies,
}


def offer(node, kind):
    service = node.create_service(SetBool, f"/{kind}", KINDS[kind], callback_group=ReentrantCallbackGroup())
    if kind == "answers_twice":
        send = service.send_response
        service.send_response = lambda response, header: (send(response, header), send(response, header))


def flap():
    """A node with a service that comes and goes without end."""
    while rclpy.ok():
        node = Node("flapping")
        node.create_service(Trigger, "/flapping", lambda request, response: response)
        time.sleep(FLAP_PERIOD)
        node.destroy_node()
        time.sleep(FLAP_PERIOD)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", choices=KINDS)
    parser.add_argument("--flap", action="store_true")
    parser.add_argument("--single-threaded", action="store_true", help="answer as fast as rclpy can")
    options = parser.parse_args()
    rclpy.init()
    node = Node("bad_services")
    for kind in options.kinds:
        offer(node, kind)
    executor = SingleThreadedExecutor() if options.single_threaded else MultiThreadedExecutor(num_threads=8)
    if options.flap:
        threading.Thread(target=flap, daemon=True).start()
    spin(node, executor=executor)


if __name__ == "__main__":
    main()
