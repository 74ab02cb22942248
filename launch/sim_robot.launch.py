"""Starts the simulated home robot: a base, a camera, a speaker, a light and a battery, each a process of its own.

    ros2 launch cortex sim_robot.launch.py
    ros2 launch cortex cortex.launch.py          in another shell
"""

import os

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    (
        "world",
        "",
        "The home: the path of a TOML file, or the name of a home of this package (home). Empty: the small home that is "
        "built in.",
    ),
    ("namespace", "", "The namespace of the robot's nodes."),
    ("use_sim_time", "false", "Whether the time of messages is taken from /clock."),
]


def world_file(context, name):
    """The file of a home: one of this package, where only a name is given."""
    if os.sep in name or name.endswith(".toml"):
        return os.path.abspath(os.path.expanduser(name))
    worlds = os.path.join(FindPackageShare("cortex").perform(context), "config", "worlds")
    known = sorted(file.removesuffix(".toml") for file in os.listdir(worlds) if file.endswith(".toml"))
    if name not in known:
        raise RuntimeError(f"there is no home '{name}': give the path of a file, or one of {', '.join(known)}")
    return os.path.join(worlds, f"{name}.toml")


def start(context):
    """The robot, with what the arguments say."""

    def value(name):
        return LaunchConfiguration(name).perform(context)

    world = value("world")
    return [
        Node(
            package="cortex",
            executable="cortex-sim",
            # No name: the process has a node for each part of the robot, and all of them would get it.
            namespace=value("namespace"),
            arguments=["--world", world_file(context, world)] if world else [],
            ros_arguments=["-p", f"use_sim_time:={value('use_sim_time').strip().lower()}"],
            output="screen",
            emulate_tty=True,
        )
    ]


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
