"""A node that knows nothing of Cortex: `thermometer.py NAME FAULT FIXED_BY`.

It publishes a temperature that changes, and `/diagnostics`. After a while its fault begins: `reports` says ERROR in
`/diagnostics`, `freezes` publishes the same temperature again and again. It ends once it is fixed in the one way that
helps: by the `service` `~/reset` (which refuses the first time), a message on the `topic` `~/knock`, or the `parameter`
`gain` above 1."""

import sys

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rcl_interfaces.msg import SetParametersResult
from std_msgs.msg import Bool, Float64
from std_srvs.srv import Trigger

PERIOD_S = 0.1
# Long enough to be seen working first.
GOOD_TICKS = 30


class Thermometer(Node):
    def __init__(self, name, fault, fixed_by):
        super().__init__(name)
        self.fault, self.fixed_by = fault, fixed_by
        self.ticks, self.fixed, self.resets = 0, False, 0
        self.declare_parameter("gain", 1.0)
        self.add_on_set_parameters_callback(self.changed)
        self.create_service(Trigger, "~/reset", self.reset)
        self.create_subscription(Bool, "~/knock", lambda _: self.fix("topic"), 10)
        self.temperature = self.create_publisher(Float64, "~/temperature", 10)
        self.diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(PERIOD_S, self.tick)

    def is_bad(self):
        return self.ticks > GOOD_TICKS and not self.fixed

    def tick(self):
        self.ticks += 1
        frozen = self.fault == "freezes" and self.is_bad()
        self.temperature.publish(Float64(data=20.0 if frozen else 20.0 + self.ticks % 7))
        bad = self.fault == "reports" and self.is_bad()
        status = DiagnosticStatus(level=DiagnosticStatus.ERROR if bad else DiagnosticStatus.OK)
        status.name, status.message = f"{self.get_name()}: sensor", "no contact" if bad else "fine"
        self.diagnostics.publish(DiagnosticArray(status=[status]))

    def fix(self, way):
        if self.is_bad() and way == self.fixed_by:
            self.fixed = True

    def changed(self, parameters):
        for parameter in parameters:
            if parameter.name == "gain" and parameter.value > 1.0:
                self.fix("parameter")
        return SetParametersResult(successful=True)

    def reset(self, _request, response):
        self.resets += 1
        response.success = self.resets > 1
        response.message = "" if response.success else "it is still warming up"
        if response.success:
            self.fix("service")
        return response


rclpy.init()
try:
    rclpy.spin(Thermometer(*sys.argv[1 : 4]))
except (KeyboardInterrupt, RCLError, ExternalShutdownException):
    pass  # RCLError: the handler of rclpy ended the context between two looks of the executor.
