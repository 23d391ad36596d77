#!/usr/bin/python
# Copyright: the straddle authors
# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: straddle_info
short_description: Return the layers of a host's disks, their verdicts and findings
description:
  - Runs C(straddle check) and returns its document.
  - Opens every disk read-only and changes nothing.
  - Findings do not fail the task. Use M(straddle.storage.straddle_check) for that.
version_added: "0.1.0"
author:
  - The straddle authors (@straddle-io)
options:
  targets:
    description: Devices, images or directories. Without one, every disk of the host.
    type: list
    elements: str
    default: []
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
- name: Look at every disk
  straddle.storage.straddle_info:
  register: storage

- name: Show the verdict of each disk
  ansible.builtin.debug:
    msg: "{{ item.target }}: {{ item.verdict }}"
  loop: "{{ storage.document.targets }}"
  loop_control:
    label: "{{ item.target }}"
"""

RETURN = r"""
document:
  description: The document of C(straddle check --json). Its schema is C(straddle generate schema).
  type: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.straddle.storage.plugins.module_utils.straddle import COMMON, run


def main():
    arguments = dict(COMMON, targets={"type": "list", "elements": "str", "default": []})
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    # 1: findings; 5: no verdict.
    document = run(module, ["check"] + module.params["targets"], (0, 1, 5))[1]
    module.exit_json(changed=False, document=document)


if __name__ == "__main__":
    main()
