"""The Kubernetes manifests: by the schemas of Kubernetes itself, and against the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tavolata.service.cli.serve import STOP_MAX_S
from tavolata.service.cli.settings import strangers
from tavolata.service.settings import load
from tests.project.extensions import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
VERSIONS = ("1.30", "1.34")  # oldest and newest that are promised


def manifests() -> dict[str, Any]:
    """All of them by kind."""
    named = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    documents = [each for name in named for each in yaml.safe_load_all((FOLDER / name).read_text())]
    return {each["kind"]: each for each in documents}


def pod(kind: str) -> Any:
    """The pods that a manifest makes."""
    return manifests()[kind]["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_one_by_the_schemas_of_kubernetes(version: str) -> None:
    for manifest in manifests().values():
        kubernetes_validate.validate(manifest, version, strict=True)


def test_a_manifest_that_is_none_is_noticed() -> None:
    broken = manifests()["Deployment"]
    broken["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_no_manifest_is_left_out() -> None:
    named = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert {*named, "kustomization.yaml"} == {each.name for each in Path(FOLDER).iterdir()}


def test_the_settings_are_ones_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    data = manifests()["ConfigMap"]["data"]
    assert strangers(data) == []
    for name, value in data.items():
        monkeypatch.setenv(name, value)
    chosen = load(None)
    (server,) = pod("Deployment")["containers"]
    ports = {port["name"]: port["containerPort"] for port in server["ports"]}
    assert chosen.bind == f"0.0.0.0:{ports['grpc']}"
    assert chosen.metrics_bind == f"0.0.0.0:{ports['metrics']}"
    annotations = manifests()["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(ports["metrics"])
    assert chosen.store.startswith("postgresql://")


def workers() -> dict[str, Any]:
    """The manifests of the workers by kind."""
    text = (FOLDER.parent / "kubernetes-workers" / "worker.yaml").read_text()
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_workers_are_by_the_schemas_and_fit_together(version: str) -> None:
    found = workers()
    for manifest in found.values():
        kubernetes_validate.validate(manifest, version, strict=True)
    deployment, scaler = found["Deployment"], found["HorizontalPodAutoscaler"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    servers = manifests()["Deployment"]["spec"]["selector"]["matchLabels"]
    assert not servers.items() <= labels.items()


def test_workers_think_where_the_servers_leave_it_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made = yaml.safe_load((FOLDER.parent / "kubernetes-workers/kustomization.yaml").read_text())
    assert made["resources"] == ["../kubernetes", "worker.yaml"]
    (patch,) = yaml.safe_load(made["patches"][0]["patch"])
    data = manifests()["ConfigMap"]["data"]
    name = patch["path"].rpartition("/")[2]
    assert (patch["op"], name in data) == ("replace", True)
    for each, value in (data | {name: patch["value"]}).items():
        monkeypatch.setenv(each, value)
    assert not load(None).acts
    (worker,) = workers()["Deployment"]["spec"]["template"]["spec"]["containers"]
    command, flag, threads = worker["args"]
    assert (command, flag) == ("worker", "--threads")
    assert load(None, ai_threads=threads).acts
    (port,) = worker["ports"]
    assert load(None).metrics_bind == f"0.0.0.0:{port['containerPort']}"


def test_selectors_find_the_servers_and_no_migration() -> None:
    found = manifests()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        found["Deployment"]["spec"]["selector"]["matchLabels"],
        found["Service"]["spec"]["selector"],
        found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels.items()
        assert (
            not selector.items() <= found["Job"]["spec"]["template"]["metadata"]["labels"].items()
        )


def test_a_pod_is_given_the_time_that_a_stop_may_take() -> None:
    server = pod("Deployment")
    pause = int(server["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert server["terminationGracePeriodSeconds"] > pause + STOP_MAX_S


@pytest.mark.parametrize("kind", ["Deployment", "Job"])
def test_pods_have_no_more_rights_than_they_need(kind: str) -> None:
    made = pod(kind)
    assert made["securityContext"]["runAsNonRoot"] is True
    assert made["enableServiceLinks"] is False
    assert made["automountServiceAccountToken"] is False
    (container,) = made["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
