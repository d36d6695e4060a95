"""`ctx memory`: everything about memories beside storing and finding them."""

from ctx.cli import COMMANDS, Group
from ctx.commands.memory.memory.entries import edit, list_memories, remove, show_memory
from ctx.commands.memory.memory.exchange import export_command, import_command
from ctx.commands.memory.memory.rebuild import rebuild

EXAMPLES = (
    "ctx memory list --topic deployment",
    "ctx memory export memories.jsonl",
    "ctx memory import memories.jsonl",
)

command = Group(
    "memory",
    EXAMPLES,
    commands=[list_memories, show_memory, edit, remove, export_command, import_command, rebuild],
    help=f"{COMMANDS['memory']} `ctx remember` stores one, `ctx recall` finds some.",
)
