/**
 * Runner `event`: fires events on the master's bus.
 * Source: Salt 3008.3 `salt/runners/event.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";

export const send: RunnerFunction = runner({
  doc: runnerDoc(
    `Fire an event on the master's bus. The result says whether it arrived; it does not if no master is running.

tag
    The tag of the event.

data
    Its data, a dictionary.`,
    `event.send my/custom/event '{"foo": "bar"}'`,
  ),
  params: { tag: p.str(), data: p.dict(null) },
  async run({ tag, data }, context) {
    if (tag === "") throw new CommandError("Empty tag.");
    // The bus separates tag and data by newlines.
    if (/\p{Cc}/u.test(tag)) throw new CommandError("A tag has no control characters");
    return await context.fire(tag, data ?? new Map());
  },
});
