"""Three Qdrant nodes on loopback that are one cluster."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.qdrant import free_port, memory

NODES = 3
READY_SECONDS = 60.0


@dataclass
class Node:
    """One node: its ports, its folder, and its process while it runs."""

    number: int
    folder: Path
    http: int
    grpc: int
    peer: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}"

    @property
    def peer_url(self) -> str:
        return f"http://127.0.0.1:{self.peer}"

    def kill(self) -> None:
        """kill -9, as a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    def is_ready(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/readyz", trust_env=False).is_success
        return False


@dataclass(frozen=True)
class QdrantCluster:
    """The nodes of a cluster; the first founded it."""

    program: Path
    nodes: tuple[Node, ...]

    def start(self, node: Node) -> None:
        """Start a node, or start it again, and wait until it answers."""
        first = self.nodes[0]
        join = [] if node is first else ["--bootstrap", first.peer_url]
        environment = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(node.http),
            "QDRANT__SERVICE__GRPC_PORT": str(node.grpc),
            "QDRANT__CLUSTER__ENABLED": "true",
            "QDRANT__CLUSTER__P2P__PORT": str(node.peer),
            "QDRANT__CLUSTER__CONSENSUS__TICK_PERIOD_MS": "100",
            "QDRANT__STORAGE__STORAGE_PATH": str(node.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(node.folder / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "PATH": os.defpath,
        }
        command = [str(self.program), "--uri", node.peer_url, *join]
        with (node.folder / "log").open("ab") as log:
            node.process = subprocess.Popen(
                command, cwd=node.folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        wait_until(node.is_ready, lambda: (node.folder / "log").read_text()[-2000:])

    def members(self) -> int:
        """Return how many nodes the first one knows."""
        answer = httpx.get(f"{self.nodes[0].url}/cluster", trust_env=False).json()
        return len(answer["result"]["peers"])

    def stop(self) -> None:
        for node in self.nodes:
            if node.process is not None:
                node.kill()
            shutil.rmtree(node.folder, ignore_errors=True)


@contextlib.contextmanager
def qdrant_cluster(program: Path) -> Iterator[QdrantCluster]:
    """A running cluster until the block ends."""
    nodes = []
    for number in range(NODES):
        folder = Path(tempfile.mkdtemp(prefix=f"ctx-qdrant-{number}-", dir=memory()))
        folder.chmod(0o777)
        nodes.append(Node(number, folder, free_port(), free_port(), free_port()))
    cluster = QdrantCluster(program, tuple(nodes))
    try:
        for node in cluster.nodes:
            cluster.start(node)
        wait_until(lambda: cluster.members() == NODES, lambda: f"{cluster.members()} nodes")
        yield cluster
    finally:
        cluster.stop()


def wait_until(is_so: Callable[[], bool], state: Callable[[], str]) -> None:
    """Wait until something holds; fail with the state it is in."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError(state())
