"""A node that says something is wrong, and then logs as many lines a second as it is told: `loud.py NAME LINES_A_SECOND`."""

import sys

import rclpy
from peer import spin

TICK_S = 0.01


def main():
    name, lines = sys.argv[1], int(sys.argv[2])
    # Nobody is to read so many lines in a terminal.
    rclpy.init(args=["--ros-args", "--disable-stdout-logs", "--disable-external-lib-logs"])
    node = rclpy.create_node(name)
    log = node.get_logger()
    log.info("the gripper is at home")
    log.error("the gripper slips\n<b>at</b> \x1b[31mfinger 2\x1b[0m")
    count = 0

    def tick():
        nonlocal count
        for _ in range(int(lines * TICK_S)):
            count += 1
            log.info(f"line {count}")

    if lines:
        node.create_timer(TICK_S, tick)
    spin(node)


if __name__ == "__main__":
    main()
