"""`ctx knowledge`: reads, writes, searches and shares the knowledge of this folder's project."""

from ctx.cli import COMMANDS, Group
from ctx.commands.memory.knowledge.entries import add, get, list_entries, remove, search
from ctx.commands.memory.knowledge.exchange import export_command, import_command
from ctx.commands.memory.knowledge.records import conventions, decisions
from ctx.commands.memory.knowledge.skills import skills
from ctx.commands.memory.knowledge.sync import sync

EXAMPLES = (
    "ctx knowledge list",
    "ctx knowledge add architecture --text 'Two servers over one engine.'",
    "ctx knowledge search how are servers built",
    "ctx knowledge sync push",
)

command = Group(
    "knowledge",
    EXAMPLES,
    commands=[
        list_entries,
        get,
        add,
        remove,
        search,
        sync,
        decisions,
        conventions,
        skills,
        export_command,
        import_command,
    ],
    help=f"{COMMANDS['knowledge']} It lies under .context-teleport/ in the repository; private "
    "entries are kept in the record store.",
)
