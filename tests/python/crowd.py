"""Many nodes with many services, in one process: `crowd.py 200 10` makes 200 nodes with 10 services each. Prints
`ready` when the last one is there."""

import sys

import rclpy
from nav_msgs.srv import GetMap, GetPlan
from rclpy.node import Node
from sensor_msgs.srv import SetCameraInfo
from std_srvs.srv import Empty, SetBool, Trigger

TYPES = [Empty, SetBool, Trigger, GetMap, GetPlan, SetCameraInfo]


def main():
    nodes, services = int(sys.argv[1]), int(sys.argv[2])
    rclpy.init()
    crowd = []
    for number in range(nodes):
        node = Node(f"node_{number:03}")
        for service in range(services):
            node.create_service(TYPES[service % len(TYPES)], f"~/service_{service:02}", lambda request, answer: answer)
        crowd.append(node)
    print("ready", flush=True)
    # Nobody calls: what is there is all that matters.
    sys.stdin.read()


if __name__ == "__main__":
    main()
