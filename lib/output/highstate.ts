/**
 * The outputter of state runs: a block or a line for each state, then a summary. Text, order and colours are Salt's.
 * Differences: control characters in returns become visible, a name stays on its line, and the summary says that a run
 * was in test mode. Source: Salt's `salt/output/highstate.py`.
 * @module
 */

import { compressedCount, compressIds } from "./compress_ids.ts";
import { copyMap } from "#lib/values/dict.ts";
import { truncateTexts } from "./truncate_texts.ts";
import { formatNested } from "./nested.ts";
import { rstrip, strip } from "#lib/values/python_text.ts";
import { formatFixed, roundHalfEven } from "./rounding.ts";
import {
  durationMs,
  type PastRun,
  readPastRun,
  readStateRun,
  type ReturnedRun,
  type ReturnedState,
  SEPARATOR,
} from "./state_return.ts";
import { formatTerse } from "./terse_state.ts";
import { pformat } from "#lib/values/pformat.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { type ColourName, type Colours, colours, sanitize, sanitizeLine } from "#lib/text/terminal.ts";
import { fillText } from "#lib/text/textwrap.ts";
import { float, isInt, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** How state runs are shown: Salt's options of these names. */
export interface StateDisplay {
  /**
   * `state_output`: full, terse, mixed, changes or filter; with the suffix `_id` the ID is shown in place of the name.
   */
  readonly output: string;
  /** `state_verbose`: whether states that did nothing are shown. */
  readonly verbose: boolean;
  /** `state_output_diff`: whether only those that changed something, or failed, are shown. */
  readonly diff: boolean;
  /** `state_output_profile`: whether start and duration are shown. */
  readonly profile: boolean;
  /** `state_output_pct`: whether the summary has percentages. */
  readonly percentages: boolean;
  /** `state_output_max_lines`: how many lines of a text among the changes are shown; 0: all. */
  readonly maxLines: number;
  /** `state_compress_ids`: whether states of one ID are put together. */
  readonly compressIds: boolean;
  /** `state_tabular`: whether short lines are aligned, or the layout of one, as Python's `str.format` takes it. */
  readonly tabular: boolean | string;
  /** `state_output_exclude`: results (`True`, `False`, `None`) that `filter` leaves out. */
  readonly exclude: readonly string[];
  /** `state_output_terse`: results that `filter` shows in one line. */
  readonly terse: readonly string[];
  /** Whether the call asked for test mode. Without it, a run is one if a state reports what it would change. */
  readonly test: boolean;
}

/** Salt's defaults. */
export const STATE_DISPLAY: StateDisplay = {
  output: "full",
  verbose: true,
  diff: false,
  profile: true,
  percentages: false,
  maxLines: 0,
  compressIds: false,
  tabular: false,
  exclude: [],
  terse: [],
  test: false,
};

/** Options of {@linkcode formatHighstate}. */
export interface HighstateOptions {
  /** Whether to print in Salt's colours. */
  readonly color: boolean;
  /** Default: Salt's. */
  readonly states?: StateDisplay;
}

/** The indentation of comments, changes and inner runs. */
const MARGIN = " ".repeat(14);

/**
 * Formats `data`, a map from minion ids to returns of state runs, without a final newline.
 * @returns `undefined` if `data` has another form.
 */
export function formatHighstate(data: Value, { color, states = STATE_DISPLAY }: HighstateOptions): string | undefined {
  return new Highstate(colours(color), color, states).format(data, 1);
}

/** The text of one minion, and whether something changed there. */
interface HostText {
  readonly text: string;
  readonly changed: boolean;
}

/** The numbers of the summary. */
interface Counts {
  succeeded: number;
  unchanged: number;
  failed: number;
  /** Results that are neither True, False nor None. */
  odd: number;
  changed: number;
  /** States that changed something: their result is not None. */
  really: number;
  warnings: number;
  /** Milliseconds of states that ran one after the other. */
  durationMs: number;
  /** The longest duration of the parallel states, in milliseconds. */
  parallelMs: number;
}

class Highstate {
  readonly #color: Colours;
  readonly #colored: boolean;
  readonly #show: StateDisplay;

  constructor(color: Colours, colored: boolean, show: StateDisplay) {
    this.#color = color;
    this.#colored = colored;
    this.#show = show;
  }

  /** @param depth 1; one more for each run around this one. */
  format(data: Value, depth: number): string | undefined {
    const hosts = unwrap(data);
    if (typeof hosts === "string") return sanitize(hosts);
    if (!isMap(hosts) || [...hosts.keys()].some((host) => typeof host !== "string")) return undefined;
    const texts: string[] = [];
    for (const [host, run] of this.#show.compressIds ? compressIds(hosts) : hosts) {
      const text = this.#host(host, run, depth);
      if (text === undefined) return undefined;
      texts.push(text.text);
    }
    return texts.join("\n");
  }

  #host(host: Value, run: Value, depth: number): HostText | undefined {
    const color = this.#color;
    const hostText = (colour: ColourName, lines: readonly string[], changed: boolean): HostText => ({
      text: [`${color[colour]}${sanitizeLine(str(host))}:${color.ENDC}`, ...lines].join("\n"),
      changed,
    });
    if (typeof run === "string" || typeof run === "boolean" || isInt(run)) {
      // In an orchestration, the return of a function counts as a change.
      const lines = typeof run === "string" ? splitLines(run) : [str(run)];
      return hostText("CYAN", lines.map((line) => `${color.GREEN}    ${sanitize(line)}${color.ENDC}`), true);
    }
    if (Array.isArray(run)) {
      const lines = run.map((error) => `${color.LIGHT_RED}----------\n    ${sanitize(str(error))}${color.ENDC}`);
      return hostText("LIGHT_RED", [`    ${color.LIGHT_RED}Data failed to compile:${color.ENDC}`, ...lines], false);
    }
    if (!isMap(run)) return hostText("GREEN", [], false);
    const past = readPastRun(run);
    const read = readStateRun(past?.results ?? run);
    const text = read === undefined ? undefined : this.#run(read, { host, depth, named: hostText });
    if (past === undefined || text === undefined) return text;
    return { ...text, text: [text.text, ...this.#pastRun(past)].join("\n") };
  }

  /** How a run of `state.last_run` ended. */
  #pastRun({ jid, fun, begun, outcome, unfinished }: PastRun): string[] {
    const { CYAN, LIGHT_RED, ENDC } = this.#color;
    const [colour, text] = [
      outcome === "finished" ? CYAN : LIGHT_RED,
      `${fun} with jid ${jid}, begun ${begun}: ${outcome}`,
    ];
    const begunStates = unfinished.map((tag) => {
      const [state, id, , name] = tag.split(SEPARATOR);
      return `Not finished: ${name === undefined ? tag : `${state}.${name} of ${id}`}`;
    });
    return [text, ...begunStates].map((line) => `${colour}${sanitizeLine(line)}${ENDC}`);
  }

  #run(run: ReturnedRun, { host, depth, named }: {
    readonly host: Value;
    readonly depth: number;
    readonly named: (colour: ColourName, lines: readonly string[], changed: boolean) => HostText;
  }): HostText | undefined {
    const lines = run.unordered.toReversed().flatMap((info) => [NO_ORDER, pformat(info)]);
    const counts: Counts = {
      succeeded: 0,
      unchanged: 0,
      failed: 0,
      odd: 0,
      changed: 0,
      really: 0,
      warnings: 0,
      durationMs: 0,
      parallelMs: 0,
    };
    let colour: ColourName = "GREEN";
    for (const state of run.states) {
      const changes = this.#changes(state, depth);
      if (changes === undefined) return undefined;
      count(state, changes.changed, counts);
      const unremarkable = truthy(state.result) && !changes.changed;
      if (unremarkable && (this.#show.diff || !this.#show.verbose)) continue;
      const own = colourOf(state, changes.changed);
      if (state.result === false || state.result === null) colour = own;
      lines.push(...this.#state(state, { colour: own, changes, counts }));
    }
    lines.push(...this.#summary(host, counts));
    if (run.plan !== undefined) lines.push(...this.#plan(run.plan, host, counts));
    return named(colour, lines, counts.changed > 0);
  }

  /** The changes of a state as text after `Changes:`, and whether there are any. */
  #changes({ fields, changes }: ReturnedState, depth: number): { changed: boolean; text: string } | undefined {
    if (NESTED_RUNS.includes(fields.get("name") ?? null)) {
      const inner = this.format(changes, depth + 1);
      if (inner === undefined) return undefined;
      const margin = MARGIN.repeat(depth);
      return { changed: true, text: `${margin}\n${inner}`.replaceAll("\n", () => `\n${margin}`) };
    }
    if (!truthy(changes)) return { changed: false, text: "" };
    if (!isMap(changes)) return { changed: true, text: `Invalid Changes data: ${sanitize(str(changes))}` };
    const hosts = changes.get("ret") ?? null;
    if (hosts === null || changes.get("out") !== "highstate") {
      const text = formatNested(truncateTexts(changes, this.#show.maxLines), {
        color: this.#colored,
        nestedIndent: MARGIN.length,
      });
      return { changed: true, text: `\n${rstrip(text)}` };
    }
    if (!isMap(hosts)) return undefined;
    let text = "";
    let changed = false;
    for (const [host, run] of hosts) {
      const shown = this.#host(host, run, 1);
      if (shown === undefined) return undefined;
      text += "\n" + splitLines(shown.text).map((line) => MARGIN + line).join("\n");
      changed ||= shown.changed;
    }
    return { changed, text };
  }

  /** The lines of one state in the form that `state_output` asks for. */
  #state(state: ReturnedState, { colour, changes, counts }: {
    readonly colour: ColourName;
    readonly changes: { readonly changed: boolean; readonly text: string };
    readonly counts: Counts;
  }): string[] {
    const mode = this.#show.output.toLowerCase();
    const [module, id, ownName, fun] = state.comps;
    const name = mode.endsWith("_id") ? id : ownName;
    const terse = () => [formatTerse(state, { name, colour, color: this.#color, ...this.#show })];
    if (mode.startsWith("filter")) {
      if (this.#show.terse.includes(str(state.result))) return terse();
      if (this.#show.exclude.includes(str(state.result))) return [];
    } else if (
      mode.startsWith("terse") || (mode.startsWith("mixed") && state.result !== false) ||
      (mode.startsWith("changes") && truthy(state.result) && !changes.changed)
    ) {
      return terse();
    }
    const { [colour]: start, ENDC: end, LIGHT_RED } = this.#color;
    const row = (label: string, text: string) => `    ${start}${label.padStart(8)}: ${text}${end}`;
    const lines = [
      `${start}----------${end}`,
      row("ID", sanitizeLine(id)),
      row("Function", `${sanitizeLine(module)}.${sanitizeLine(fun)}`),
    ];
    if (name !== id) lines.push(row("Name", sanitizeLine(name)));
    lines.push(row("Result", sanitize(str(state.result))), row("Comment", sanitize(commentOf(state))));
    if (this.#show.profile && state.startTime !== undefined) {
      const duration = state.duration === "" ? "" : `${str(state.duration)} ms`;
      lines.push(row("Started", sanitize(str(state.startTime))), row("Duration", sanitize(duration)));
    }
    lines.push(`${start}     Changes:   ${changes.text}${end}`);
    if (state.warnings !== undefined) {
      counts.warnings++;
      const text = fillText(sanitize(state.warnings.join("\n").replace(/[\v\f\r]/g, " ")), FILL).trimStart();
      lines.push(`   ${LIGHT_RED} Warnings: ${text}${end}`);
    }
    return lines;
  }

  /** How the plan is applied. */
  #plan(name: string, host: Value, { unchanged }: Counts): string[] {
    const { CYAN, ENDC } = this.#color;
    const changes = unchanged === 0 ? "no changes" : unchanged === 1 ? "1 change" : `${unchanged} changes`;
    const plan = sanitizeLine(name);
    return [`${CYAN}Plan: ${changes} on ${sanitizeLine(str(host))}; apply with: state.apply plan=${plan}${ENDC}`];
  }

  #summary(host: Value, counts: Counts): string[] {
    const { CYAN, GREEN, RED, LIGHT_RED, LIGHT_YELLOW, ENDC } = this.#color;
    const { succeeded, unchanged, failed, odd, changed, warnings } = counts;
    const total = succeeded + unchanged + failed + odd;
    const width = SUMMARY_LABEL + Math.max(...[...shownCounts(counts)].map((n) => String(n).length), 0);
    const row = (label: string, number: Value) => `${label}: ${str(number).padStart(width - label.length - 2)}`;
    const failedColour = failed > 0 ? RED : CYAN;
    const beside = [
      ...(unchanged > 0 ? [`${LIGHT_YELLOW}unchanged=${unchanged}${ENDC}`] : []),
      ...(changed > 0 ? [`${GREEN}changed=${changed}${ENDC}`] : []),
    ];
    const lines = [
      `${CYAN}\nSummary for ${sanitizeLine(str(host))}\n${"-".repeat(width)}${ENDC}`,
      `${GREEN}${row("Succeeded", succeeded + unchanged)}${ENDC}${beside.length > 0 ? ` (${beside.join(", ")})` : ""}`,
      `${failedColour}${row("Failed", failed)}${ENDC}`,
    ];
    if (this.#show.percentages && total > 0) {
      const percent = (part: number) => float(roundHalfEven(part / total * 100, 2));
      lines.push(
        `${GREEN}${row("Success %", percent(succeeded + unchanged))}${ENDC}`,
        `${failedColour}${row("Failure %", percent(failed))}${ENDC}`,
      );
    }
    if (warnings > 0) lines.push(`${LIGHT_RED}${row("Warnings", warnings)}${ENDC}`);
    lines.push(`${CYAN}${"-".repeat(width)}\nTotal states run: ${String(total).padStart(width - 7)}${ENDC}`);
    if (this.#show.profile) {
      const ms = counts.durationMs + counts.parallelMs;
      const [time, unit] = ms > 999 ? [ms / 1000, "s"] : [ms, "ms"];
      lines.push(`${CYAN}Total run time: ${formatFixed(time, 3).padStart(width - 5)} ${unit}${ENDC}`);
    }
    const mode = testModeText(counts, this.#show.test);
    if (mode !== "") lines.push(`${LIGHT_YELLOW}${mode}${ENDC}`);
    return lines;
  }
}

/** `Succeeded: ` */
const SUMMARY_LABEL = 11;

const FILL = { width: 80, indent: MARGIN };

const NO_ORDER = "The State execution failed to record the order in which all states were executed. " +
  "The state return missing data is:";

/** States whose changes are runs of their own. */
const NESTED_RUNS: readonly Value[] = ["state.orch", "state.orchestrate", "state.sls"];

/** Removes the wrappers that runners put around a run. */
function unwrap(data: Value): Value {
  let inner = data;
  for (const wrapping of ["return", "data"]) {
    if (isMap(inner)) inner = inner.get(wrapping) ?? (inner.has(wrapping) ? null : inner);
  }
  if (isMap(inner) && inner.size === 1) {
    const [only] = inner.values();
    if (isMap(only) && only.has("jid") && only.has("fun")) {
      const returned = only.get("return");
      inner = isMap(returned) && returned.has("data") ? returned.get("data") ?? null : inner;
    }
  }
  return inner === null ? "None" : isMap(inner) ? withoutRetcode(inner) : inner;
}

/** Removes the return code, which the result of an orchestration has besides the master. */
function withoutRetcode(data: ValueMap): ValueMap {
  const masters = [...data.keys()].filter((key) => typeof key === "string" && key.endsWith("_master"));
  if (masters.length !== 1 || !data.has("retcode")) return data;
  const rest = copyMap(data);
  rest.delete("retcode");
  return rest;
}

function count(state: ReturnedState, changed: boolean, counts: Counts): void {
  const states = compressedCount(state.comps);
  if (state.result === true) counts.succeeded += states;
  else if (state.result === false) counts.failed += states;
  else if (state.result === null) counts.unchanged += states;
  else counts.odd += states;
  const ms = durationMs(state.duration);
  if (state.parallel) counts.parallelMs = Math.max(counts.parallelMs, ms);
  else counts.durationMs += ms;
  if (!changed) return;
  if (state.result !== null) counts.really += states;
  const together = isMap(state.changes) ? state.changes.get("compressed changes") : undefined;
  counts.changed += states > 1 && isMap(together) ? together.size || 1 : 1;
}

/** What test mode means for this run; empty without test mode. A single state can be in test mode, too. */
function testModeText({ unchanged, really }: Counts, asked: boolean): string {
  if (unchanged === 0 && !(asked && really === 0)) return "";
  return really === 0 ? "Test mode: nothing was changed" : "Test mode: states with the result None changed nothing";
}

/** The counts that the width of the summary depends on. */
function shownCounts({ succeeded, unchanged, failed, odd, warnings }: Counts): number[] {
  return [succeeded, unchanged, failed, odd, warnings].filter((n) => n > 0);
}

function colourOf({ result }: ReturnedState, changed: boolean): ColourName {
  if (result === false) return "RED";
  if (result === null) return "LIGHT_YELLOW";
  return changed ? "CYAN" : "GREEN";
}

/** The comment with its further lines indented, and the state's additions to it. */
function commentOf({ comment, data }: ReturnedState): string {
  const text = strip(str(comment)).replaceAll("\n", () => `\n${MARGIN}`);
  if (data === undefined) return text;
  if (Array.isArray(data)) return [text, ...data.map(str)].join(" ");
  if (isMap(data)) return [text, ...[...data].map(([key, value]) => `${str(key)}: ${str(value)}`)].join("\n\t\t");
  return `${text} ${str(data)}`;
}
