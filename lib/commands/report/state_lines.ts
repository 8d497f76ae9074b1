/**
 * The states of a run as they finish, a line for each: `web1: 3/12 motd (/etc/motd): Changed, 12.5 ms`.
 * @module
 */

import type { StateDone } from "#lib/client/job.ts";
import { resultWord } from "#lib/output/terse_state.ts";
import { type ColourName, colours, sanitizeLine } from "#lib/text/terminal.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** Characters of a failure's comment. */
const LONGEST = 200;

/** The destination of the lines. */
export interface StateLinesPlace {
  /** Whether standard output is coloured. */
  readonly color: boolean;
  readonly io: { write(text: string): void; writeError(text: string): void };
  /** Whether a program reads standard output: lines go to standard error then. */
  readonly forProgram: boolean;
}

/** Shows each state that is done. */
export function stateLines({ color, io, forProgram }: StateLinesPlace): (id: string, done: StateDone) => void {
  return (id, done) => {
    const line = formatStateLine(id, done, { color });
    if (forProgram) io.writeError(line);
    else io.write(line);
  };
}

/** The line of a state, with a newline; of one that failed also the first line of its comment. */
export function formatStateLine(id: string, { ret, len }: StateDone, { color }: { readonly color: boolean }): string {
  const palette = colours(color);
  const field = (name: string): Value => ret.get(name) ?? null;
  const result = field("result");
  const changes = field("changes");
  const [stateId, name] = [field("__id__"), field("name")].map((value) => sanitizeLine(str(value)));
  const label = stateId === name || field("__id__") === null ? name : `${stateId} (${name})`;
  const number = Number(field("__run_num__") ?? 0) + 1;
  const time = ret.has("duration") ? `, ${sanitizeLine(str(field("duration")))} ms` : "";
  const why = result === false ? `: ${sanitizeLine(str(field("comment")).split("\n")[0].slice(0, LONGEST))}` : "";
  const own = palette[colourOf(result, changes)];
  return `${palette.CYAN}${sanitizeLine(id)}:${palette.ENDC} ${number}/${len} ${own}${label}: ${
    resultWord({ result, changes })
  }${palette.ENDC}${time}${why}\n`;
}

/** As the highstate outputter has it. */
function colourOf(result: Value, changes: Value): ColourName {
  if (result === false) return "RED";
  if (result === null) return "LIGHT_YELLOW";
  return truthy(changes) ? "CYAN" : "GREEN";
}
