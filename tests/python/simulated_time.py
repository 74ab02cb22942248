"""Publishes a simulated time that stands still, in seconds, and prints the stamp of each pose that comes on /goal_pose as
one line of JSON."""

import json
import sys

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

# Seconds between two messages.
PERIOD = 0.02


def main():
    rclpy.init()
    node = Node("simulator")
    time = Clock()
    time.clock.sec = int(sys.argv[1])
    times = node.create_publisher(Clock, "/clock", 10)
    node.create_timer(PERIOD, lambda: times.publish(time))

    def tell(pose):
        stamp = pose.header.stamp
        print(json.dumps({"sec": stamp.sec, "nanosec": stamp.nanosec, "x": pose.pose.position.x}), flush=True)

    node.create_subscription(PoseStamped, "/goal_pose", tell, 10)
    print("ready", flush=True)
    rclpy.spin(node)


if __name__ == "__main__":
    main()
