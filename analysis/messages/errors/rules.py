"""Errors of rule files of the fusion pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

RulesError = Literal[
    "rule_file_missing", "rule_file_unreadable", "rule_files_alike", "rule_glob_unmatched",
    "rule_glob_without_modules",
    "rule_globs_malformed", "rule_level_unknown", "rule_optimization_unknown",
    "rule_pattern_is_op_type", "rule_pattern_length", "rule_pattern_malformed",
    "rule_pattern_unknown", "rule_patterns_malformed", "rule_rewrite_of_unknown_type",
    "rule_rewrite_reversed", "rule_rewrite_unknown",
    "rule_size_malformed", "rule_unknown", "rules_not_toml", "rules_too_deep", "rules_too_large",
    "rules_unknown",
]  # fmt: skip
_EXAMPLES = Message("See docs/rules.md for examples.")
_KNOWN = Message("Known: {known:name}.")
RULES: Mapping[RulesError, ErrorText] = {
    "rule_file_missing": ErrorText(
        Message("The rule file does not exist"), Message("Check its path.")
    ),
    "rule_file_unreadable": ErrorText(
        Message("The rule file cannot be read: {reason:name}"),
        Message("Name a TOML file. See docs/rules.md for examples."),
    ),
    "rule_files_alike": ErrorText(
        Message("Two rule files have the name '{rules:name}'"),
        Message(
            "Rename one: a variant has the name of its file, and upper and lower case count as the "
            "same."
        ),
    ),
    "rules_unknown": ErrorText(
        Message("There is no rule file '{rules:name}', and no built-in rules have that name"),
        _KNOWN,
    ),
    "rules_too_large": ErrorText(
        Message("The rule file is larger than {size:count} KiB"), Message("Name a TOML file.")
    ),
    "rules_not_toml": ErrorText(
        Message("The rule file is not valid TOML: {reason:name}"), _EXAMPLES
    ),
    "rules_too_deep": ErrorText(
        Message("The rule file is not valid TOML: its values are nested too deep or are too long"),
        _EXAMPLES,
    ),
    "rule_unknown": ErrorText(Message("There is no rule '{rule:name}'"), _KNOWN),
    "rule_level_unknown": ErrorText(Message("The level cannot be '{level:name}'"), _KNOWN),
    "rule_optimization_unknown": ErrorText(
        Message("The optimization cannot be '{optimization:name}'"), _KNOWN
    ),
    "rule_patterns_malformed": ErrorText(
        Message("The value of patterns is not a list of 1 to {largest:count} patterns"),
        Message('Write patterns = [["Conv", "Relu"], "gelu"], or leave it out for all.'),
    ),
    "rule_pattern_is_op_type": ErrorText(
        Message("'{op_type:name}' is an op type, not the name of a pattern"),
        Message('Put op types in a list: patterns = [["Conv", "Relu"]].'),
    ),
    "rule_pattern_unknown": ErrorText(Message("There is no pattern '{pattern:name}'"), _KNOWN),
    "rule_pattern_malformed": ErrorText(
        Message("A pattern cannot be {pattern:name}"),
        Message('Write a name in quotation marks, or a list of op types: ["Conv", "Relu"].'),
    ),
    "rule_pattern_length": ErrorText(
        Message("The pattern {pattern:name} has {operators:operators}"),
        Message("List 2 to {largest:count} op types in the order of the data flow."),
    ),
    "rule_rewrite_of_unknown_type": ErrorText(
        Message("No rewrite is known for {pattern:name}"),
        Message("See docs/rules.md for the operators of every pattern."),
    ),
    "rule_rewrite_reversed": ErrorText(
        Message("No rewrite is known for {pattern:name}"),
        Message("List the op types in the order of the data flow: {reversed:name}."),
    ),
    "rule_rewrite_unknown": ErrorText(
        Message("No rewrite is known for {pattern:name}"),
        Message(
            "See docs/rules.md for the patterns. custom:<name> runs chains with a kernel of your "
            "own."
        ),
    ),
    "rule_globs_malformed": ErrorText(
        Message("{key:name} is not a list of modules"),
        Message('Write {key:name} = ["classifier/*"], with names or globs in quotation marks.'),
    ),
    "rule_glob_unmatched": ErrorText(
        Message("The rule {key:name} names '{glob:name}', which no node matches"),
        Message("The modules of this model are: {modules:name}."),
    ),
    "rule_glob_without_modules": ErrorText(
        Message("The rule {key:name} names '{glob:name}', which no node matches"),
        Message("The nodes of this model are not in modules. Name nodes instead."),
    ),
    "rule_size_malformed": ErrorText(
        Message("The value of largest_intermediate cannot be {size:name}"),
        Message('Give bytes, as 8000000 or "8 MB".'),
    ),
}
