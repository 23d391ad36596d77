#!/usr/bin/python
# Copyright: the straddle authors
# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: straddle_plan
short_description: Plan the change that aligns a disk's partitions
description:
  - Runs C(straddle plan), and writes the plan to O(dest) on the host.
  - Never writes to the disk. In check mode nothing is written at all.
  - With C(--diff), shows each partition before and after.
version_added: "0.1.0"
author:
  - The straddle authors (@straddle-io)
options:
  target:
    description: A disk, a partition of it, or an image file.
    type: path
    required: true
  dest:
    description:
      - The file that gets the plan as JSON. Without it, the plan is only returned.
      - An existing file is replaced only if it is a plan of straddle.
      - If nothing has to change, no new file is made.
    type: path
  program:
    description: The straddle binary on the host.
    type: path
    default: straddle
attributes:
  check_mode:
    description: Says if the plan would be written.
    support: full
  diff_mode:
    description: Shows the partitions before and after the plan.
    support: full
"""

EXAMPLES = r"""
- name: Show what would align a disk
  straddle.storage.straddle_plan:
    target: /dev/sda
  check_mode: true
  diff: true

- name: Write the plan for a person to read
  straddle.storage.straddle_plan:
    target: /dev/sda
    dest: /root/sda.plan.json
"""

RETURN = r"""
document:
  description: The document of C(straddle plan --json).
  type: dict
  returned: always
needed:
  description: Whether a partition has to change.
  type: bool
  returned: always
"""

import json
import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.straddle.storage.plugins.module_utils.straddle import COMMON, run

# These differ between two runs of the same plan.
RUN = ("command", "started", "version", "kernel", "host", "machine")


def rows(document, when):
    """The partitions of a plan as lines, before or after it."""
    return "".join(
        "%s: start %s, length %s bytes\n"
        % (one["number"], one[when + "_start_bytes"], one[when + "_length_bytes"])
        for one in document["partitions"]
    )


def kept(path):
    """The plan in a file without what differs between two runs; nothing where there is none."""
    if path is None or not os.path.exists(path):
        return None
    try:
        with open(path) as file:
            document = json.load(file)
        return dict((key, document[key]) for key in document if key not in RUN)
    except (AttributeError, IOError, OSError, TypeError, ValueError):
        return None


def main():
    arguments = dict(
        COMMON,
        target={"type": "path", "required": True},
        dest={"type": "path"},
    )
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    target, dest = module.params["target"], module.params["dest"]
    document = run(module, ["plan", target], (0, 1))[1]
    plan = dict((key, document[key]) for key in document if key not in RUN)
    # A plan that changes nothing is not worth a file, but puts an older one right.
    is_wanted = dest is not None and (document["changes"] or os.path.exists(dest))
    changed = is_wanted and kept(dest) != plan
    if changed and not module.check_mode:
        run(module, ["plan", target, "--output", dest], (0, 1))
    difference = {
        "before_header": target,
        "after_header": "%s, planned" % target,
        "before": rows(document, "old"),
        "after": rows(document, "new"),
    }
    module.exit_json(
        changed=changed, needed=document["changes"], document=document, diff=difference
    )


if __name__ == "__main__":
    main()
