"""A greenhouse: a service and an action of a package that Cortex has never seen, and a lamp. Prints a line of JSON for
everything that it is asked to do."""

import json
import os
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from greenhouse_msgs.action import Harvest
from greenhouse_msgs.msg import Plant
from greenhouse_msgs.srv import WaterBeds
from peer import leaving, spin
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool

# 2^53 + 1: no double can hold it.
TICKET = 9_007_199_254_740_993


def plain(value):
    """A message as JSON has it."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def tell(event, **details):
    # In one piece: the goals are carried out by many threads.
    os.write(1, f"{json.dumps({'event': event, **details})}\n".encode())


class Greenhouse(Node):
    def __init__(self):
        super().__init__("greenhouse")
        # Seconds for each plant, also for the one that is being cut. Changed by stories.
        self.declare_parameter("cut_seconds", 0.05)
        group = ReentrantCallbackGroup()
        self.create_service(WaterBeds, "~/water_beds", self.water, callback_group=group)
        self.create_service(SetBool, "~/lamp", self.switch, callback_group=group)
        self.basket = self.create_publisher(PoseStamped, "~/basket", 1)
        self.harvester = ActionServer(
            self,
            Harvest,
            "~/harvest",
            self.harvest,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=group,
        )

    def water(self, request, response):
        tell("watered", **plain(request))
        response.success = all(portion.litres <= 10 for portion in request.portions)
        response.message = "" if response.success else "the tank holds 10 litres"
        response.ticket = TICKET
        response.moisture = [40.0 + portion.litres for portion in request.portions]
        response.plants = [Plant(name=portion.bed, stage=Plant.GROWING, height=0.5) for portion in request.portions]
        return response

    def switch(self, request, response):
        tell("switched", on=request.data)
        response.success = True
        response.message = "the lamp is " + ("on" if request.data else "off")
        return response

    def cut(self, goal):
        """Cuts one plant. False if that was ended before."""
        begun = time.monotonic()
        while time.monotonic() < begun + self.get_parameter("cut_seconds").value:
            if leaving.wait(0.05) or goal.is_cancel_requested:
                return False
        return True

    def harvest(self, goal):
        request = goal.request
        tell("harvesting", **plain(request))
        self.basket.publish(request.basket)
        result = Harvest.Result()
        for picked in range(request.count):
            goal.publish_feedback(Harvest.Feedback(picked=picked, cutting=f"{request.bed} {picked + 1}"))
            if not self.cut(goal):
                goal.canceled()
                tell("harvest", end="canceled", bed=request.bed, picked=picked)
                return result
            result.harvested.append(Plant(name=request.bed, stage=Plant.RIPE, height=1.25))
        result.weight = 0.25 * request.count
        goal.succeed()
        tell("harvest", end="succeeded", bed=request.bed, picked=request.count)
        return result


def main():
    rclpy.init()
    spin(Greenhouse(), executor=MultiThreadedExecutor(num_threads=8))


if __name__ == "__main__":
    main()
