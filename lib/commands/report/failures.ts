/**
 * The last line of a job with failures: Salt's text, then each return code and each other outcome with its minions.
 * Source: Salt's `salt/cli/salt.py`; the minions and codes are not in Salt.
 * @module
 */

import type { Outcome } from "#lib/protocol/outcome.ts";
import { colours, sanitizeLine } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";

/** The part of the line about one minion. */
export interface MinionEnd {
  readonly id: string;
  /** Anything but 0 is a failure. */
  readonly retcode: number;
  readonly outcome: Outcome;
}

/** The text for a minion's outcome: its return code, or why there is none. */
function endName({ retcode, outcome }: Pick<MinionEnd, "retcode" | "outcome">): string {
  return outcome === "returned" || outcome === "failed" ? String(retcode) : outcome;
}

/** The ends by their names: return codes first, each in ascending order, with their minions sorted. */
export function byEnd<E extends MinionEnd>(ends: readonly E[]): [name: string, ends: E[]][] {
  const groups = Map.groupBy(ends, endName);
  const place = (name: string) => /^-?\d+$/.test(name) ? Number(name) : Infinity;
  return [...groups]
    .sort(([a], [b]) => place(a) === place(b) ? (a < b ? -1 : 1) : place(a) - place(b))
    .map(([name, those]) => [name, those.toSorted((a, b) => a.id < b.id ? -1 : 1)]);
}

/** Maximum number of minions of one kind that the line names; the rest is counted. */
const NAMED = 10;

/**
 * `ERROR: Minions returned with non-zero exit code: 3 (db1, web1), not connected (web2)`, with a newline.
 * @param how.color Whether it is red.
 */
export function failuresText(ends: readonly MinionEnd[], { color }: { readonly color: boolean }): string {
  const { RED, ENDC } = colours(color);
  const failed = byEnd(ends.filter(({ retcode }) => retcode !== 0)).map(([name, those]) =>
    `${name} (${truncateList(those.map(({ id }) => sanitizeLine(id)), NAMED)})`
  );
  return `${RED}ERROR: Minions returned with non-zero exit code: ${failed.join(", ")}${ENDC}\n`;
}
