"""Answers a question of a mission as any node may: `answer.py QUESTION ANSWER [SCOPE [REASON]]`."""

import json
import sys

import rclpy
from cortex_msgs.srv import AnswerQuestion


def main():
    question, answer, scope, reason = (sys.argv[1:] + ["", ""])[:4]
    rclpy.init()
    node = rclpy.create_node("answerer")
    client = node.create_client(AnswerQuestion, "/cortex/answer")
    if not client.wait_for_service(timeout_sec=30.0):
        sys.exit("no Cortex is there")
    request = AnswerQuestion.Request(question=question, answer=answer, scope=scope, reason=reason)
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=30.0)
    if not future.done():
        sys.exit("no answer")
    print(json.dumps({"success": future.result().success, "message": future.result().message}), flush=True)


if __name__ == "__main__":
    main()
