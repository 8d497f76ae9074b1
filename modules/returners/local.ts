/**
 * Returner `local`: prints returns on the standard output of the minion, to try returners.
 * Source: Salt 3008.3 `salt/returners/local.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { repr, type Value } from "#lib/values/value.ts";

export const returner: ReturnerFunction = returnerFn({
  doc: "Print the return on the standard output of the minion, as Python shows a dict.",
  params: { ret: p.dict() },
  run: ({ ret }) => print(ret),
});

export const event_return: ReturnerFunction = returnerFn({
  doc: "Print events on the standard output of the master, as Python shows a list.",
  params: { events: p.list() },
  run: ({ events }) => print(events),
});

function print(value: Value): null {
  writeAll(Deno.stdout, new TextEncoder().encode(`${repr(value)}\n`));
  return null;
}
