"""A small project to search in; its rankings are golden."""

FILES = {
    "src/net/retry.py": '''"""Retrying calls that fail for a while."""

import random
import time


class RetryPolicy:
    """How often a call is tried again, and how long to wait in between."""

    def __init__(self, attempts: int = 3, base_delay: float = 0.1) -> None:
        self.attempts = attempts
        self.base_delay = base_delay

    def delay(self, attempt: int) -> float:
        """Exponential backoff with jitter, so that clients do not come back in lockstep."""
        return self.base_delay * 2**attempt * random.uniform(0.5, 1.5)


def with_retry(call, policy=None):
    """Call until it succeeds or the policy gives up."""
    policy = policy or RetryPolicy()
    for attempt in range(policy.attempts):
        try:
            return call()
        except ConnectionError:
            time.sleep(policy.delay(attempt))
    return call()
''',
    "src/net/pool.py": '''"""A pool of database connections."""

from queue import Queue


class ConnectionPool:
    """Hands out connections and takes them back; never more than `size` at once."""

    def __init__(self, connect, size: int = 10) -> None:
        self._idle = Queue()
        for _ in range(size):
            self._idle.put(connect())

    def acquire(self):
        """Wait for a connection that nobody uses."""
        return self._idle.get()

    def release(self, connection) -> None:
        self._idle.put(connection)
''',
    "src/auth/session.ts": """import { sign, verify } from "./token";

export interface Session {
  user: string;
  expires: number;
}

/** Create a signed session cookie for a user who has logged in. */
export function createSession(user: string, ttl: number): string {
  const session: Session = { user, expires: Date.now() + ttl };
  return sign(JSON.stringify(session));
}

export function readSession(cookie: string): Session | null {
  const body = verify(cookie);
  if (!body) return null;
  const session = JSON.parse(body) as Session;
  return session.expires > Date.now() ? session : null;
}
""",
    "src/auth/token.ts": """const SECRET_NAME = "token-key";

/** Append a signature to the text. */
export function sign(text: string): string {
  return `${text}.${hash(text)}`;
}

/** The text without its signature, or null when the signature is wrong. */
export function verify(signed: string): string | null {
  const at = signed.lastIndexOf(".");
  const text = signed.slice(0, at);
  return hash(text) === signed.slice(at + 1) ? text : null;
}

function hash(text: string): string {
  let value = 0;
  for (const letter of text) value = (value * 31 + letter.charCodeAt(0)) | 0;
  return value.toString(16);
}
""",
    "src/legacy/retry.py": '''"""The old way to retry; kept for callers that still use it."""


def retry_call(call, times):
    for _ in range(times):
        try:
            return call()
        except Exception:
            continue
''',
    "tests/test_retry.py": """from net.retry import RetryPolicy, with_retry


def test_backoff_grows():
    policy = RetryPolicy(base_delay=1)
    assert policy.delay(3) > policy.delay(0) / 3


def test_with_retry_gives_up():
    calls = []
    def fail():
        calls.append(1)
        raise ConnectionError
    try:
        with_retry(fail, RetryPolicy(attempts=2, base_delay=0))
    except ConnectionError:
        assert len(calls) == 3
""",
    "docs/retry.md": """# Retrying

Calls that fail are retried with exponential backoff and jitter. See `RetryPolicy`.

## Sessions

A session cookie is signed, and expires.
""",
    "config/app.toml": """[retry]
attempts = 5
base_delay = 0.2

[pool]
size = 20
""",
    "Makefile": """test:
\tpytest tests
""",
}
