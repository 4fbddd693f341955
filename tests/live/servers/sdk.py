"""Run in KServe's environment: its Python SDK asks a live server to explain. Prints what it got."""

import asyncio
import json
import sys

from kserve.inference_client import InferenceRESTClient, RESTConfig


async def main(url: str, body: dict) -> None:
    first = InferenceRESTClient(RESTConfig(protocol="v1", timeout=300))
    second = InferenceRESTClient(RESTConfig(protocol="v2", timeout=300))
    told = {
        "explained": await first.explain(url, "hcv", body),
        "predicted": await first.infer(url, {"instances": body["instances"]}, model_name="hcv"),
        "live": await second.is_server_live(url),
        "ready": [await second.is_server_ready(url), await second.is_model_ready(url, "hcv")],
    }
    sys.stdout.write(json.dumps(told))


asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
