#!/usr/bin/python
# Copyright: the straddle authors
# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: straddle_check
short_description: Fail where an I/O boundary of a host is misaligned
description:
  - Runs C(straddle check), and fails if a finding is at or above O(fail_on).
  - Opens every disk read-only and changes nothing.
version_added: "0.1.0"
author:
  - The straddle authors (@straddle-io)
options:
  targets:
    description: Devices, images or directories. Without one, every disk of the host.
    type: list
    elements: str
    default: []
  fail_on:
    description: The least severity of a finding that fails the task.
    type: str
    choices: [info, warning, error]
    default: warning
  allow_unknown:
    description: Whether a named target without a verdict passes.
    type: bool
    default: false
  program:
    description: The straddle binary on the host.
    type: path
    default: straddle
attributes:
  check_mode:
    description: Does the same in check mode.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
"""

EXAMPLES = r"""
- name: Fail where a disk is misaligned
  straddle.storage.straddle_check:

- name: Fail only where data can be lost
  straddle.storage.straddle_check:
    fail_on: error
"""

RETURN = r"""
findings:
  description: The findings, each with its target, code, severity, title and remedies.
  type: list
  elements: dict
  returned: always
document:
  description: The document of C(straddle check --json).
  type: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.straddle.storage.plugins.module_utils.straddle import COMMON, run

CODES = {0: "nothing found", 1: "findings", 5: "no verdict"}


def main():
    arguments = dict(
        COMMON,
        targets={"type": "list", "elements": "str", "default": []},
        fail_on={"type": "str", "choices": ["info", "warning", "error"], "default": "warning"},
        allow_unknown={"type": "bool", "default": False},
    )
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    options = ["--fail-on", module.params["fail_on"]]
    if module.params["allow_unknown"]:
        options.append("--allow-unknown")
    code, document = run(module, ["check"] + options + module.params["targets"], CODES)
    findings = [
        dict((key, one[key]) for key in ("code", "severity", "title", "evidence", "remedies"))
        for target in document["targets"]
        for one in target["findings"]
    ]
    result = dict(changed=False, findings=findings, document=document)
    if code == 0:
        module.exit_json(**result)
    worst = ["%s %s" % (one["code"], one["title"]) for one in findings if one["severity"] != "info"]
    module.fail_json(msg="%s: %s" % (CODES[code], "; ".join(worst) or "see document"), **result)


if __name__ == "__main__":
    main()
