/**
 * The outputter `profile`: the states of a run with how long each took, in a table, the quickest first.
 * Source: the profile outputter of Salt 3006 and 3007; 3008 has none.
 * @module
 */

import { durationMs, SEPARATOR } from "./state_return.ts";
import { formatTable, TABLE_LAYOUT, type TableOptions } from "./table.ts";
import { compareStrings, isMap, str, type Value } from "#lib/values/value.ts";

/** Longer names are cut. */
const MAX_NAME = 60;

const LABELS = ["name", "mod.fun", "duration (ms)"];

/**
 * Formats `data`, a map from minion ids to state runs.
 * @returns `undefined` if it has another form.
 */
export function formatProfile(data: Value, { color, table = TABLE_LAYOUT }: TableOptions): string | undefined {
  if (!isMap(data)) return undefined;
  const rows: { readonly name: string; readonly fun: string; readonly duration: string }[] = [];
  for (const run of data.values()) {
    if (!isMap(run) && !Array.isArray(run)) return undefined;
    const states: (readonly [Value, Value])[] = isMap(run) ? [...run] : run.map((text) => [text, new Map()]);
    for (const [tag, info] of states) {
      const parts = str(tag).split(SEPARATOR);
      const name = isMap(info) ? info.get("name") ?? info.get("__id__") ?? "<>" : str(tag);
      const duration = isMap(info) ? info.get("duration") : undefined;
      rows.push({
        name: cut(str(name)),
        fun: `${parts[0]}.${parts.at(-1) ?? ""}`,
        duration: (duration === undefined ? -1 : durationMs(duration)).toFixed(4),
      });
    }
  }
  const width = Math.max(LABELS[2].length, ...rows.map(({ duration }) => duration.length));
  const cells = rows.map(({ name, fun, duration }) => [duration.padStart(width), name, fun]);
  cells.sort((a, b) => compareStrings(a.join("\0"), b.join("\0")));
  const shown = new Map<Value, Value>([
    ["labels", LABELS],
    ["rows", cells.map(([duration, name, fun]) => [name, fun, duration])],
  ]);
  return formatTable(shown, { color, table: { ...table, rowsKey: "rows", labelsKey: "labels" } });
}

function cut(name: string): string {
  const chars = [...name];
  return chars.length > MAX_NAME ? `${chars.slice(0, MAX_NAME - 3).join("")}...` : name;
}
