"""A robot that says where it is by transforms alone: map -> odom -> base_link on /tf, and its scanner on /tf_static. Its
odometry is given in the frame `odom`. `still` on its standard input ends what comes on /tf; `on` lets it come again. It prints
how many read /tf.
"""

import json
import sys
import threading

import rclpy
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from peer import spin
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def transform(node, parent, child, x, y):
    stamped = TransformStamped(child_frame_id=child)
    stamped.header.frame_id = parent
    stamped.header.stamp = node.get_clock().now().to_msg()
    stamped.transform.translation.x = x
    stamped.transform.translation.y = y
    stamped.transform.rotation.w = 1.0
    return stamped


def main():
    rclpy.init()
    node = rclpy.create_node("rover")
    moving = node.create_publisher(TFMessage, "/tf", 100)
    fixed = node.create_publisher(TFMessage, "/tf_static", LATCHED)
    maps = node.create_publisher(OccupancyGrid, "/map", LATCHED)
    odometry = node.create_publisher(Odometry, "/odom", 10)
    fixed.publish(TFMessage(transforms=[transform(node, "base_link", "scanner", 0.2, 0.0)]))
    grid = OccupancyGrid()
    grid.header.frame_id = "map"
    grid.info.width, grid.info.height, grid.info.resolution = 40, 30, 0.25
    grid.info.origin.orientation.w = 1.0
    grid.data = [0] * (40 * 30)
    maps.publish(grid)
    state = {"still": False, "watched": 0}

    def tell():
        count = moving.get_subscription_count()
        if count != state["watched"]:
            state["watched"] = count
            print(json.dumps({"event": "watched", "count": count}), flush=True)
        place = Odometry(child_frame_id="base_link")
        place.header.frame_id = "odom"
        place.header.stamp = node.get_clock().now().to_msg()
        place.pose.pose.position.x, place.pose.pose.position.y = 1.0, 2.0
        place.pose.pose.orientation.w = 1.0
        odometry.publish(place)
        if state["still"]:
            return
        nonsense = transform(node, "base_link", "map", float("nan"), 0.0)
        circle = transform(node, "scanner", "map", 1.0, 0.0)
        links = [transform(node, "map", "odom", 3.0, 1.0), transform(node, "odom", "base_link", 1.0, 2.0)]
        moving.publish(TFMessage(transforms=[nonsense, circle, *links]))

    node.create_timer(0.05, tell)

    def listen():
        for line in sys.stdin:
            state["still"] = line.strip() == "still"

    threading.Thread(target=listen, daemon=True).start()
    spin(node)


main()
