/**
 * Returner `rawfile_json`: appends returns and events to a file, a line of JSON for each.
 * Source: Salt 3008.3 `salt/returners/rawfile_json.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { type ReturnerContext, returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { returnerJson } from "#lib/returners/fields.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { type ValueMap } from "#lib/values/value.ts";

/** Where lines go if the option `rawfile_json.filename` is not set. */
const FILENAME = "/var/log/salt/events";

export const returner: ReturnerFunction = returnerFn({
  doc: "Append the return to the file that the option rawfile_json.filename names, as a line of JSON.",
  params: { ret: p.dict() },
  permissions: { read: true, write: true, env: true },
  run: ({ ret }, context) => append([returnerJson(ret)], context, ret),
});

export const event_return: ReturnerFunction = returnerFn({
  doc: "Append events to the file that the option rawfile_json.filename names, a line of JSON for each.",
  params: { events: p.list() },
  permissions: { read: true, write: true, env: true },
  run: ({ events }, context) => append(events.map(returnerJson), context),
});

/** Appends lines under an exclusive lock, so that lines of several processes do not mix. */
function append(lines: readonly string[], context: ReturnerContext, ret?: ValueMap): null {
  const path = new ReturnerOptions(["rawfile_json"], context, ret).text("filename") ?? FILENAME;
  using file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
  file.lockSync(true);
  writeAll(file, new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  return null;
}
