"""`ctx stdio`: one of the servers for a client that starts its servers itself."""

import asyncio
import sys

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit
from ctx.servers import SERVICES, connection_of
from services.core.environment.connection import ServiceName, read_connection


@define_command(
    "stdio",
    COMMANDS["stdio"]
    + " It joins the servers that run, else starts them in the background: they end with the last "
    "client. Any number of clients may be joined, and both servers at once.",
    examples=["ctx stdio memory", "ctx stdio indexer"],
)
@click.argument("server", type=click.Choice(SERVICES))
def command(as_json: bool, server: ServiceName) -> int:
    """Carry messages until standard input closes."""
    from ctx.stdio.bridge import Bridge
    from ctx.stdio.clients import counted_client, ensure_running

    connection = read_connection()
    if connection is None:
        from services.core.settings import load

        connection = connection_of(load())
    with counted_client(connection.data_dir):
        asyncio.run(ensure_running(connection, server))
        bridge = Bridge(connection.url(server, "/mcp"), connection.token, sys.stdout.buffer)
        bridge.run(iter(sys.stdin.buffer.readline, b""))
    return Exit.DONE
