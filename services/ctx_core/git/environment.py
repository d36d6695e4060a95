"""The environment that git starts with: nothing of it leads to another repository or a prompt."""

import functools
from collections.abc import Iterable, Mapping

from ctx_core.environment.child_environment import child_environment
from ctx_core.git.configuration import Setting

NO_PROTOCOL = "none"  # no transport has this name, so none is allowed
SYNC_PROTOCOLS = "file:ssh:https"

# Of git's own variables only these reach it: others, such as GIT_DIR, lead to other repositories.
KEPT_VARIABLES = frozenset(
    "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_CONFIG_GLOBAL "
    "GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND "
    "GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_CERT GIT_SSL_KEY GIT_CEILING_DIRECTORIES".split()
)
KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


@functools.lru_cache(maxsize=1)
def _own_settings() -> frozenset[str]:
    """Return the names of our settings: tokens and addresses that git has no use for."""
    from ctx_core.settings import env_names  # noqa: PLC0415 - 12 MB that no worker needs

    return frozenset(env_names())


def _is_inherited(name: str) -> bool:
    if not name.startswith("GIT_"):
        return name not in _own_settings()
    return name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)


def git_environment(config: Mapping[str, str], transport: bool) -> dict[str, str]:
    environment = child_environment(_is_inherited)
    first = int(
        environment.get("GIT_CONFIG_COUNT", "0") or 0
    )  # after the user's own settings of this kind
    environment |= {
        "GIT_ALLOW_PROTOCOL": SYNC_PROTOCOLS if transport else NO_PROTOCOL,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": ":",
        "LC_ALL": "C",
        "GIT_CONFIG_COUNT": str(first + len(config)),
    }
    for number, (key, value) in enumerate(config.items(), first):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def transport_environment(
    environment: Mapping[str, str], settings: Iterable[Setting]
) -> dict[str, str]:
    """Name the ssh program: the user's own choice, never the repository's."""
    if "GIT_SSH_COMMAND" in environment or "GIT_SSH" in environment:
        return {}
    chosen = [s.value for s in settings if s.key == "core.sshcommand" and not s.is_local]
    return {"GIT_SSH_COMMAND": chosen[-1] if chosen else "ssh"}
