/**
 * Runner `error`: fails on purpose, to test the handling of failures. Source: Salt 3008.3 `salt/runners/error.py`.
 * @module
 */

import { failOnPurpose } from "#lib/client/fail_on_purpose.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";

export const error: RunnerFunction = runner({
  doc: runnerDoc(
    "Fail with an error of this name and message; without a name, return an empty dictionary.",
    "error.error",
    `error.error name="Exception" message="This is an error."`,
  ),
  params: { name: p.str(null), message: p.str("") },
  run: ({ name, message }) => failOnPurpose(name, message),
});
