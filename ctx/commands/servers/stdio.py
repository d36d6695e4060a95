"""`ctx stdio`: one of the servers, or both, for a client that starts its servers itself."""

import asyncio
import sys

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit
from ctx.servers import SERVICES, connection_of, credentials
from ctx_core.environment.connection import AddressName, read_connection


@define_command(
    "stdio",
    COMMANDS["stdio"]
    + " It joins the servers that run, else starts them in the background: they end with the last "
    "client. Any number of clients may be joined. `both` has the tools of both servers.",
    examples=["ctx stdio both", "ctx stdio memory", "ctx stdio indexer"],
)
@click.argument("server", type=click.Choice(["both", *SERVICES]))
def command(as_json: bool, server: AddressName) -> int:
    """Carry messages until standard input closes."""
    from ctx.stdio.bridge import Bridge
    from ctx.stdio.clients import counted_client, ensure_running

    connection = read_connection()
    if connection is None:
        from ctx_core.settings import load

        connection = connection_of(load())
    with counted_client(connection.data_dir):
        asyncio.run(ensure_running(connection, "indexer" if server == "both" else server))
        bridge = Bridge(connection.url(server, "/mcp"), credentials(connection), sys.stdout.buffer)
        bridge.run(iter(sys.stdin.buffer.readline, b""))
    return Exit.DONE
