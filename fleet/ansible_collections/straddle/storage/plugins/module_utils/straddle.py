# Copyright: the straddle authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs straddle on the managed host and reads its one JSON document."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json

# What every module of this collection takes.
COMMON = {
    "program": {"type": "path", "default": "straddle"},
}


def run(module, arguments, good):
    """Returns the exit code and the document of `straddle ARGUMENTS --json`.

    `good` are the exit codes that come with a result. Any other ends the module with what straddle
    said, and so does an answer that is no document.
    """
    program = module.get_bin_path(module.params["program"], required=True)
    command = [program] + arguments + ["--json"]
    code, out, errors = module.run_command(command)
    try:
        document = json.loads(out)
    except ValueError:
        module.fail_json(
            msg="straddle printed no JSON document: %s" % (errors.strip() or "no message"),
            cmd=command,
            rc=code,
        )
    refusal = document.get("refusal")
    if code not in good:
        said = refusal["message"] if refusal else errors.strip()
        module.fail_json(msg=said, cmd=command, rc=code, document=document)
    return code, document
