"""Somebody who moves things in the simulated home: each line on standard input is a JSON object of things and rooms, all that
were moved so far. Each is answered when it is published.
"""

import sys
import threading

import rclpy
from peer import spin
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String


def main():
    rclpy.init()
    node = rclpy.create_node("somebody")
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, "/home/moved", latched)

    def obey():
        for line in sys.stdin:
            publisher.publish(String(data=line.strip()))
            print("moved", flush=True)

    threading.Thread(target=obey, daemon=True).start()
    spin(node)


if __name__ == "__main__":
    main()
