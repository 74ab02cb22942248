"""Prints, again and again, what `ros2 node info` shows of a node: the names of what it offers, as one line of JSON."""

import json
import sys

import rclpy
from peer import spin
from rclpy.node import NodeNameNonExistentError


def main():
    rclpy.init()
    node = rclpy.create_node("_node_info")
    full = sys.argv[1]
    namespace, _, name = full.rpartition("/")

    def names(found):
        return sorted(name for name, _ in found)

    def tell():
        try:
            info = {
                "services": names(node.get_service_names_and_types_by_node(name, namespace or "/")),
                "publishers": names(node.get_publisher_names_and_types_by_node(name, namespace or "/")),
            }
        except NodeNameNonExistentError:
            return
        print(json.dumps(info), flush=True)

    node.create_timer(0.2, tell)
    spin(node)


if __name__ == "__main__":
    main()
