#!/usr/bin/python
# Copyright: the straddle authors
# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: straddle_fsync
short_description: Measure how long durable writes take in a directory of a host
description:
  - Runs C(straddle fsync), which writes to a scratch file of its own and removes it.
  - Measuring uses the drive. Give the task C(throttle) so that few hosts measure at once.
  - In check mode nothing is written, and the plan of the run is returned.
version_added: "0.1.0"
author:
  - The straddle authors (@straddle-io)
options:
  path:
    description: The directory to measure in.
    type: path
    required: true
  engine:
    description: The engine whose limit is the verdict, such as C(etcd) or C(postgresql).
    type: str
  seconds:
    description: How long the rows are measured.
    type: int
    default: 10
  program:
    description: The straddle binary on the host.
    type: path
    default: straddle
attributes:
  check_mode:
    description: Only says what a run would do.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
"""

EXAMPLES = r"""
- name: Measure two hosts at a time
  straddle.storage.straddle_fsync:
    path: /var/lib/etcd
    engine: etcd
  throttle: 2
  register: durable

- name: Keep all results in one folder of the controller
  ansible.builtin.copy:
    content: "{{ durable.document | to_json }}"
    dest: "results/{{ inventory_hostname }}.json"
    mode: "0644"
  delegate_to: localhost
"""

RETURN = r"""
document:
  description: The document of C(straddle fsync --json), which C(straddle report) reads.
  type: dict
  returned: always
verdict:
  description: The verdict for the engine; none without an engine.
  type: str
  returned: when an engine was named and measured
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.straddle.storage.plugins.module_utils.straddle import COMMON, run


def main():
    arguments = dict(
        COMMON,
        path={"type": "path", "required": True},
        engine={"type": "str"},
        seconds={"type": "int", "default": 10},
    )
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    command = ["fsync", module.params["path"], "--seconds", str(module.params["seconds"])]
    if module.params["engine"]:
        command += ["--for", module.params["engine"]]
    if module.check_mode:
        command.append("--dry-run")
    # 1: too slow, or not durable; 5: not enough evidence.
    document = run(module, command, (0, 1, 5))[1]
    result = dict(changed=False, document=document)
    verdict = document.get("verdict")
    if verdict:
        result["verdict"] = verdict["verdict"]
    module.exit_json(**result)


if __name__ == "__main__":
    main()
