"""The container's files, as far as they can be tried without a container engine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import grpc
import pytest
import yaml
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from tavolata.service.settings import Settings, load
from tests.project.extensions import ROOT

DEPLOY = ROOT / "deploy"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def check(address: str) -> subprocess.CompletedProcess[str]:
    """Run the container's health check."""
    return subprocess.run(
        [sys.executable, str(DEPLOY / "healthcheck.py"), address],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def servicer() -> health.HealthServicer:
    return health.HealthServicer()


@pytest.fixture
def address(servicer: health.HealthServicer) -> Iterator[str]:
    """Of a real server with the standard health service."""
    server = grpc.server(ThreadPoolExecutor(2), options=[("grpc.so_reuseport", 0)])
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def test_the_health_check_passes_for_a_service_that_serves(
    servicer: health.HealthServicer, address: str
) -> None:
    servicer.set("", SERVING)
    assert check(address).returncode == 0


def test_the_health_check_fails_for_a_service_that_is_stopping(
    servicer: health.HealthServicer, address: str
) -> None:
    servicer.set("", NOT_SERVING)
    assert check(address).returncode == 1


def test_the_health_check_fails_where_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        result = check(f"127.0.0.1:{taken.getsockname()[1]}")
    assert result.returncode == 1
    assert "UNAVAILABLE" in result.stderr


def image_settings() -> dict[str, str]:
    """TAVOLATA_* as the Dockerfile sets them."""
    text = (DEPLOY / "Dockerfile").read_text()
    return dict(re.findall(r"(TAVOLATA_[A-Z_]+)=(\S+)", text))


def test_every_setting_of_the_image_is_one_of_the_service() -> None:
    names = {name.removeprefix("TAVOLATA_").lower() for name in image_settings()}
    assert {"bind", "db"} <= names <= set(Settings.model_fields)


def test_the_service_starts_with_the_settings_of_the_image(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    settings = image_settings() | {
        "TAVOLATA_BIND": address,
        "TAVOLATA_DB": str(tmp_path / "tavolata.db"),
    }
    command = Path(sys.executable).parent / "tavolata"
    with subprocess.Popen(
        [str(command), "serve"],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            is_healthy = becomes_healthy(server, address)
        finally:
            server.terminate()
            output, _ = server.communicate(timeout=60)
    assert is_healthy, output
    assert server.returncode == 0, output


def becomes_healthy(server: subprocess.Popen[str], address: str) -> bool:
    """Whether the health check passes before the server ends; a minute means never."""
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        if check(address).returncode == 0:
            return True
        time.sleep(0.1)
    return False


def test_the_container_waits_longer_than_a_graceful_stop_may_take() -> None:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["tavolata"]
    assert (
        float(service["stop_grace_period"].removesuffix("s"))
        > Settings.model_fields["stop_s"].default
    )


def test_the_image_is_given_all_that_the_dockerfile_copies() -> None:
    admitted = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    copied = [
        source
        for line in (DEPLOY / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    ]
    assert "ext" in copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source, pattern) for pattern in admitted), source


def test_the_image_is_given_every_folder_that_the_package_is_made_of() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    for link in (ROOT / "src" / "tavolata").iterdir():
        if link.is_symlink():
            folder = link.readlink().parts[2]
            assert f"COPY {folder} {folder}\n" in text


def test_the_composed_service_has_no_more_rights_than_it_needs() -> None:
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["tavolata"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_the_composed_replicas_share_a_store_that_the_settings_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for name in ("replica", "migrate"):
        environment = services[name]["environment"]
        for setting in environment:
            if setting.startswith("TAVOLATA_"):
                monkeypatch.setenv(setting, environment[setting])
        assert load(None).store == "postgresql://tavolata@postgres/tavolata"
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
    assert "ports" not in services["postgres"]
    assert services["replica"]["depends_on"]["migrate"]
