"""The Helm chart and the manifests, read by Helm itself and held against the schemas of Kubernetes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import Settings
from tests.support.live_server import ROOT, LiveServer

pytestmark = pytest.mark.slow
kubernetes_validate = pytest.importorskip("kubernetes_validate")

CHART = ROOT / "deploy/helm/flipset"
HELM = Path(sys.executable).with_name("helm")
KUBERNETES = ("1.27", "1.37")
# No package carries the schemas of what others define.
FOREIGN = {"ServiceMonitor", "InferenceService"}
KEYS = {"keys": {"secret": "flipset-keys"}}
EVERYTHING = {
    **KEYS,
    "image": {"digest": f"sha256:{'0' * 64}", "pullSecrets": [{"name": "registry"}]},
    "models": {"volume": {"persistentVolumeClaim": {"claimName": "models"}}},
    "normalRanges": {"volume": {"configMap": {"name": "ranges"}}},
    "records": {"secret": "records"},
    "rates": {"secret": "records"},
    "predictor": {"url": "http://triton:8000", "secret": "predictor-key"},
    "settings": {
        "max_searches": 8,
        "max_body_bytes": 4_194_304,
        "max_model_rows": 1_000_000_000,
        "model_load_seconds": 0.5,
        "log_clients": True,
        "cds_clients_file": "/mnt/cds/clients.toml",
    },
    "volumes": [{"name": "cds", "configMap": {"name": "cds-clients"}}],
    "volumeMounts": [{"name": "cds", "mountPath": "/mnt/cds", "readOnly": True}],
    "env": [{"name": "OTEL_SERVICE_NAME", "value": "flipset"}],
    "autoscaler": {"enabled": True},
    "networkPolicy": {
        "from": [{"podSelector": {"matchLabels": {"app": "web"}}}],
        "to": [{"to": [{"podSelector": {"matchLabels": {"app": "triton"}}}], "ports": [{"port": 8000}]}],
    },
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "keySecret": "metrics-key"},
    "dashboard": {"enabled": True},
    "podAnnotations": {"a": "b"},
    "podLabels": {"c": "d"},
    "nodeSelector": {"e": "f"},
    "tolerations": [{"key": "g", "operator": "Exists"}],
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    ],
}
VALUES = {"keys": KEYS, "anonymous": {"keys": {"anonymous": True}}, "everything": EVERYTHING}


def helm(folder: Path, command: list[str], values: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    (folder / "values.json").write_text(json.dumps(values))
    options = ["--values", str(folder / "values.json")]
    return subprocess.run([HELM, *command, CHART, *options], capture_output=True, text=True, check=False)


def rendered(folder: Path, values: dict[str, Any]) -> list[dict[str, Any]]:
    done = helm(folder, ["template", "release"], values)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def check(documents: list[dict[str, Any]]) -> None:
    for document in documents:
        for version in KUBERNETES if document["kind"] not in FOREIGN else ():
            kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("values", VALUES)
def test_helm_finds_nothing_wrong_and_every_object_is_one_of_kubernetes(tmp_path: Path, values: str):
    linted = helm(tmp_path, ["lint", "--strict"], VALUES[values])
    assert linted.returncode == 0, linted.stdout
    check(rendered(tmp_path, VALUES[values]))


def test_everything_is_there_if_it_is_asked_for(tmp_path: Path):
    kinds = {document["kind"] for document in rendered(tmp_path, EVERYTHING)}
    assert kinds == {
        "ConfigMap",
        "Deployment",
        "HorizontalPodAutoscaler",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Service",
        "ServiceAccount",
        "ServiceMonitor",
    }


@pytest.mark.parametrize(("pods", "budgets"), [(1, 0), (2, 1)])
def test_a_single_pod_does_not_keep_its_node(tmp_path: Path, pods: int, budgets: int):
    for changes in ({"replicas": pods}, {"autoscaler": {"enabled": True, "minReplicas": pods}}):
        documents = rendered(tmp_path, {**KEYS, **changes})
        assert [each["kind"] for each in documents].count("PodDisruptionBudget") == budgets


def test_a_pod_has_no_rights_and_a_root_that_it_cannot_write(tmp_path: Path):
    (deployment,) = (each for each in rendered(tmp_path, EVERYTHING) if each["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert {mount["name"] for mount in container["volumeMounts"] if not mount.get("readOnly")} == {"scratch"}


def test_its_variables_are_settings_and_its_probes_are_paths(tmp_path: Path, server: LiveServer):
    for values in VALUES.values():
        (deployment,) = (each for each in rendered(tmp_path, values) if each["kind"] == "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        names = {variable["name"] for variable in container["env"]} - {"OTEL_SERVICE_NAME"}
        assert names <= {f"FLIPSET_{name.upper()}" for name in Settings.model_fields}
        with server.client() as client:
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                assert client.get(container[probe]["httpGet"]["path"]).status_code == 200


def test_numbers_are_settings_as_they_are_written(tmp_path: Path):
    (deployment,) = (each for each in rendered(tmp_path, EVERYTHING) if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    told = {variable["name"]: variable.get("value") for variable in container["env"]}
    assert told["FLIPSET_MAX_BODY_BYTES"] == "4194304"
    assert told["FLIPSET_MAX_MODEL_ROWS"] == "1000000000"
    assert told["FLIPSET_MODEL_LOAD_SECONDS"] == "0.5"
    assert told["FLIPSET_LOG_CLIENTS"] == "true"


def test_the_dashboard_asks_for_metrics_that_there_are(server: LiveServer):
    asked = set(re.findall(r"flipset_[a-z_]+", (CHART / "dashboards/flipset.json").read_text()))
    with server.client() as client:
        served = set(re.findall(r"^# TYPE (flipset_[a-z_]+)", client.get("/metrics").text, flags=re.MULTILINE))
    assert {name.removesuffix("_bucket") for name in asked} <= served


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Say who may ask"),
        ({**KEYS, "replica": 3}, "replica"),
        ({**KEYS, "replicas": 0}, "replicas"),
        ({**KEYS, "image": {"digest": "latest"}}, "digest"),
        ({**KEYS, "predictor": {"url": "triton"}}, "url"),
        ({**KEYS, "settings": {"max searches": 1}}, "max searches"),
        ({**KEYS, "autoscaler": {"enabled": True, "searchesInFlight": 0, "cpuPercent": 0}}, "by what to scale"),
        ({**KEYS, "autoscaler": {"enabled": True, "minReplicas": 5, "maxReplicas": 2}}, "autoscaler.minReplicas"),
    ],
)
def test_wrong_values_are_refused_by_name(tmp_path: Path, values: dict[str, Any], said: str):
    done = helm(tmp_path, ["template", "release"], values)
    assert done.returncode != 0
    assert said in done.stderr


def test_the_manifests_for_kserve_are_objects_of_kubernetes_and_describe_a_model(tmp_path: Path):
    documents = [*yaml.safe_load_all((ROOT / "deploy/kserve/hcv.yaml").read_text())]
    check(documents)
    config, service = documents
    (container,) = service["spec"]["explainer"]["containers"]
    assert config["data"].keys() == {"model.toml", "hcv.toml"}
    # The explainer is a pod like any other, but for its volumes' place.
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": service["spec"]["explainer"]}
    kubernetes_validate.validate(pod, KUBERNETES[-1], strict=True)
    names = {variable["name"] for variable in container["env"]}
    assert names <= {f"FLIPSET_{name.upper()}" for name in Settings.model_fields}
