/**
 * The line of the minion's log about a state that failed or changed something. Salt logs the comment, or the changes
 * themselves; here a line never has the changes, which may be the contents of files.
 * Source: `format_log` of Salt 3008.3 `salt/state.py`.
 * @module
 */

import { type Chunk, field } from "#lib/states/compiler/chunks.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { isMap, str, truthy, type ValueMap } from "#lib/values/value.ts";
import { functionNameOf } from "./state_calls.ts";

/** Maximum length of the comment in a line. */
const LONGEST = 500;

/** A line of the log, and its level. */
export interface StateLine {
  readonly level: "error" | "info";
  readonly text: string;
}

/**
 * The line about `result`; `undefined` for a state that neither failed nor has changes. The result of a state with
 * `no_log` is masked, and its line has neither name nor comment.
 */
export function stateLine(chunk: Chunk, result: ValueMap): StateLine | undefined {
  const failed = result.get("result") === false;
  const changes = result.get("changes");
  if (!failed && !truthy(changes ?? null)) return undefined;
  const what = failed ? "failed" : result.get("result") === null ? "would change" : "changed";
  const level = failed ? "error" : "info";
  if (truthy(chunk.get("no_log"))) return { level, text: `State ${functionNameOf(chunk)} ${what}` };
  const [id, name] = [field(chunk, "__id__"), field(chunk, "name")];
  const which = id === name ? id : `${id} (${name})`;
  const keys = isMap(changes) && changes.size > 0 ? ` [${truncateList([...changes.keys()].map(str))}]` : "";
  return { level, text: `State ${functionNameOf(chunk)} of ${which} ${what}${keys}${commentOf(result)}` };
}

/** The comment on one line. */
function commentOf(result: ValueMap): string {
  const comment = str(result.get("comment") ?? "").trim().replace(/(?<!\s)\s*\n\s*/g, " ");
  if (comment === "") return "";
  return `: ${comment.length <= LONGEST ? comment : `${comment.slice(0, LONGEST)}…`}`;
}
