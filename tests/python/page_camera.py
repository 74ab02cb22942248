"""A camera whose parameters say what it sends: /lens/image in the encoding `encoding`, or nothing while that is `off`. Its
`exposure` lies between 0 and 1, and it refuses more than 0.8 by itself. It prints how many look at it.

page_camera.py [WIDTH HEIGHT RATE], in pixels and pictures a second.
"""

import array
import json
import sys

import rclpy
from peer import spin
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from sensor_msgs.msg import Image

WIDTH, HEIGHT, RATE = [int(argument) for argument in sys.argv[1:4]] or [320, 240, 10]
BYTES = {"rgb8": 3, "mono8": 1, "bayer_rggb8": 1}


def picture(encoding, tick):
    """A slope of colours with a bar that moves."""
    data = array.array("B")
    for row in range(HEIGHT):
        for column in range(0, WIDTH):
            is_bar = (column - tick * 4) % WIDTH < 24
            gray = 255 if is_bar else row % 256
            data.extend([gray] if BYTES[encoding] == 1 else [gray, 90, 255 - column * 255 // WIDTH])
    return data


def main():
    rclpy.init()
    node = rclpy.create_node("lens")
    node.declare_parameter("encoding", "rgb8", ParameterDescriptor(description="What is sent; off: nothing."))
    span = FloatingPointRange(from_value=0.0, to_value=1.0)
    about = ParameterDescriptor(description="How long the shutter is open.", floating_point_range=[span])
    node.declare_parameter("exposure", 0.5, about)
    node.declare_parameter("serial", "A-17", ParameterDescriptor(read_only=True))

    def change(parameters):
        for parameter in parameters:
            if parameter.name == "exposure" and parameter.value > 0.8:
                return SetParametersResult(successful=False, reason="that would blind it")
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(change)
    images = node.create_publisher(Image, "/lens/image", 10)
    made = {encoding: [picture(encoding, tick) for tick in range(8)] for encoding in BYTES}
    ticks = [0]
    watched = [0]

    def show():
        encoding = node.get_parameter("encoding").value
        ticks[0] += 1
        count = images.get_subscription_count()
        if count != watched[0]:
            watched[0] = count
            print(json.dumps({"event": "watched", "count": count}), flush=True)
        if encoding not in made:
            return
        image = Image(width=WIDTH, height=HEIGHT, encoding=encoding, step=WIDTH * BYTES[encoding])
        image.data = made[encoding][ticks[0] % 8]
        images.publish(image)

    node.create_timer(1 / RATE, show)
    spin(node)


if __name__ == "__main__":
    main()
