/**
 * One state of a run in one line. Source: Salt's highstate outputter (`state_output: terse`, `state_tabular`). Below it
 * is why a state failed, which Salt leaves out, and its warnings, which Salt writes in front of it.
 * @module
 */

import { formatPython } from "./python_format.ts";
import { type ColourName, type Colours, sanitize, sanitizeLine } from "#lib/text/terminal.ts";
import type { ReturnedState } from "./state_return.ts";
import { strip } from "#lib/values/python_text.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** The layout of the line. */
export interface TerseOptions {
  /** Its name, or its ID. */
  readonly name: string;
  readonly colour: ColourName;
  readonly color: Colours;
  /** Whether start and duration are shown. */
  readonly profile: boolean;
  /** Whether it is aligned with others, or a layout of Python's. */
  readonly tabular: boolean | string;
}

/** Formats a state: its line, and lines below it. A layout that cannot be read is taken for `true`. */
export function formatTerse(state: ReturnedState, options: TerseOptions): string {
  const { colour, color } = options;
  const below = (text: string, by: ColourName) =>
    splitLines(strip(sanitize(text))).map((line) => `${color[by]}${BELOW}${line}${color.ENDC}`);
  return [
    formatLine(state, options),
    ...state.result === false ? below(str(state.comment), colour) : [],
    ...(state.warnings ?? []).flatMap((warning) => below(`Warning: ${warning}`, "LIGHT_RED")),
  ].join("\n");
}

/** The indentation of the lines below. */
const BELOW = " ".repeat(8);

function formatLine(state: ReturnedState, { name, colour, color, profile, tabular }: TerseOptions): string {
  const [module, , , fun] = state.comps;
  const names = { name: sanitizeLine(name), module: sanitizeLine(module), fun: sanitizeLine(fun) };
  const start = color[colour];
  if (typeof tabular === "string") {
    const fields = new Map([...state.fields].map(([key, value]) => [key, safe(value)]));
    const args = [start, names.name, names.module, names.fun, resultWord(state), color.ENDC, fields];
    const line = formatPython(tabular, args);
    if (line !== undefined) return line;
  }
  const time = profile && state.startTime !== undefined
    ? { started: sanitize(str(state.startTime)), duration: sanitize(str(state.duration)) }
    : undefined;
  if (tabular === false) {
    const times = time === undefined ? "" : ` - Started: ${time.started} - Duration: ${time.duration} ms`;
    const { name, module, fun } = names;
    return ` ${start} Name: ${name} - Function: ${module}.${fun} - Result: ${resultWord(state)}${times}${color.ENDC}`;
  }
  const times = time === undefined ? "" : `${time.started} [${padStart(time.duration, 7)} ms] `;
  const fullName = `${padStart(names.module, 10)}.${padEnd(names.fun, 10)}`;
  return `${start}${times}${fullName} ${resultWord(state).padEnd(7)}   Name: ${names.name}${color.ENDC}`;
}

/** The result of a state in one word. Source: Salt's highstate outputter. */
export function resultWord({ result, changes }: Pick<ReturnedState, "result" | "changes">): string {
  if (result === false) return "Failed";
  if (result === null) return "Differs";
  return truthy(changes) ? "Changed" : "Clean";
}

function safe(value: Value): Value {
  return typeof value === "string" ? sanitize(value) : value;
}

/** As JavaScript's `padStart`, counting characters and not UTF-16 units. */
function padStart(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - [...text].length)) + text;
}

function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - [...text].length));
}
