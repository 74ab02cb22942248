"""What every peer in rclpy does in the same way: it says that it is ready, and spins until it is told to end."""

from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor


def spin(*nodes, executor=None):
    """Returns when the process was told to end. With the executor given, or on one thread."""
    executor = executor or SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    print("ready", flush=True)
    try:
        executor.spin()
    except (KeyboardInterrupt, RCLError, ExternalShutdownException):
        pass  # RCLError: the handler of rclpy ended the context between two looks of the executor.
