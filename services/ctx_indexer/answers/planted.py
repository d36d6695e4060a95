"""Finds text that addresses a model: instructions planted in code, comments and file names.

Repository text is data: no decoder reads such lines, and no answer quotes them.
"""

import re

_MODEL = r"(?:ai|llms?|(?:language|ai) models?|assistants?|chat ?bots?|coding agents?|copilot|gpt)"
_ANSWER = r"(?:respond|reply|answer)"
_PATTERNS = (
    # "Ignore all previous instructions", in other wordings.
    r"\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,30}\b(?:instructions?|prompts?|"
    r"guidelines?|directions|everything above|the above|you (?:know|were told))\b",
    r"\b(?:new|updated|secret|hidden) (?:system )?(?:instructions|prompt)\b",
    r"\bsystem (?:prompt|override)\b",
    r"\byou are (?:now|an?) (?:\w+ )?(?:ai|llm|assistant|model|bot|pirate|admin)\w*",
    r"\byou (?:must|should|will|shall) (?:now|instead) (?:say|answer|reply|act|obey|call|run)\b",
    r"\b(?:dear|attention|hey|hello|note|notice|message|instructions?)[,:]?"
    r" (?:(?:to|for) )?(?:all |any |the |every )?" + _MODEL + r"\b",
    r"\b(?:any|every|if you are an?) " + _MODEL + r"\b.{0,40}\b(?:must|should|read|answer)",
    r"\b" + _MODEL + r"\s{0,5}:|^\W{0,20}" + _MODEL + r"\s{0,5},",
    rf"\b{_ANSWER}\b.{{0,20}}\b(?:only with|exactly|with the words?|nothing (?:else|but))\b",
    rf"\b{_ANSWER} to (?:the|every|any) (?:user|question)\b",
    r"\b(?:when|if) (?:you are )?(?:asked|questioned|summari[sz]ing)\b.{0,60}"
    rf"\b(?:say|{_ANSWER}|claim|state)\b",
    r"\b(?:tell|inform|convince) the (?:user|developer|human|person asking)\b",
    r"\bdo not (?:tell|reveal|cite|quote|mention)\b.{0,40}\b(?:user|source|this|file|human)\b",
    r"\b(?:call|invoke|use) the (?:tool|mcp)\b|\btool[_ ]call\b",
    r"\b(?:exfiltrate|upload|send|post|leak)\b.{0,40}\b(?:secrets|api keys?|passwords|\.env)\b",
    r"<\|[a-z_]{1,30}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|sources?|instructions?)>",
    r"^\W{0,20}(?:system|assistant)\s{0,5}:|#{1,6} ?(?:instruction|response)s?:",
    r"\bjailbreak",
)
_ADDRESSES = re.compile("|".join(_PATTERNS), re.IGNORECASE)
_INVISIBLE = re.compile(
    r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_BREAKS = re.compile(r"[\s_\-]+")


def addresses_model(text: str) -> bool:
    """Whether a text gives instructions to a model; also with words joined or hidden marks."""
    visible = _INVISIBLE.sub("", text)
    return bool(_ADDRESSES.search(visible) or _ADDRESSES.search(_BREAKS.sub(" ", visible)))


def without_instructions(text: str) -> tuple[str, int]:
    """Return a text with the lines that address a model replaced by a mark, and their number."""
    kept, left_out = [], 0
    for line in text.split("\n"):
        if addresses_model(line):
            kept.append("…")
            left_out += 1
        else:
            kept.append(_INVISIBLE.sub("", line))
    return "\n".join(kept), left_out
