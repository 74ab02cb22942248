"""A door that says whether it is open, on /door, as it is told to on standard input.

`open`, `shut`: it says so from now on, twenty times a second. `flap`: it opens and shuts a hundred times, five milliseconds
each, and stays shut. `silent`: it says nothing any more. Each is answered when it is done.
"""

import sys
import threading
import time

import rclpy
from peer import spin
from std_msgs.msg import Bool

PERIOD_S = 0.05
FLAPS = 100
FLAP_S = 0.005


def main():
    rclpy.init()
    node = rclpy.create_node("door")
    publisher = node.create_publisher(Bool, "/door", 10)
    says = {"open": None}

    def say():
        if says["open"] is not None:
            publisher.publish(Bool(data=says["open"]))

    def obey():
        for line in sys.stdin:
            word = line.strip()
            if word == "flap":
                says["open"] = None
                for flap in range(2 * FLAPS):
                    publisher.publish(Bool(data=flap % 2 == 0))
                    time.sleep(FLAP_S)
            says["open"] = {"open": True, "shut": False, "flap": False}.get(word)
            print(word, flush=True)

    node.create_timer(PERIOD_S, say)
    threading.Thread(target=obey, daemon=True).start()
    spin(node)


if __name__ == "__main__":
    main()
