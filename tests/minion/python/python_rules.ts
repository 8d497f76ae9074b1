/**
 * Replays what jobs of Salt 3008.3 returned whose plugins are in Python (tests/corpus/python_rules): the same files,
 * the same words, in the same order.
 * @module
 */

import { loadGrains } from "#lib/minion/agent/grains.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { parseCliArgs, toWireArgs } from "#lib/yaml/arguments.ts";
import { equals, isMap, map, repr, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { Fleet } from "#tests/support/fleet/fleet.ts";
import { runOn, startJob } from "#tests/support/fleet/jobs.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { fromTyped, type Typed } from "#tests/support/typed_values.ts";
import { PythonPool } from "./python_pool.ts";

/** A step of a recorded rule: a file that is written or removed, or a job. */
export interface RuleStep {
  readonly write?: string;
  readonly text?: string;
  readonly remove?: string;
  readonly fun?: string;
  readonly words?: readonly string[];
  /** What calls the function. */
  readonly executors?: unknown;
  /** Absent if the job never returned. */
  readonly return?: Typed;
  readonly retcode?: number;
}

/** The jobs of a rule. */
export interface RecordedRule {
  readonly options: Readonly<Record<string, unknown>>;
  readonly pillar: Readonly<Record<string, unknown>>;
  readonly steps: readonly RuleStep[];
}

/** The recorded rule of this name. */
export function readRule(name: string): RecordedRule {
  return JSON.parse(Deno.readTextFileSync(new URL(`../../corpus/python_rules/${name}.json`, import.meta.url)));
}

/** The return of a job, and its return code. */
export interface Answer {
  readonly value: Value;
  readonly retcode: number;
}

/** A job whose answer is not the recorded one. */
export interface Difference {
  /** The function and its words. */
  readonly call: string;
  readonly ours: string;
  readonly salts: string;
}

/** What is ours on purpose: by `fun word word`, the text of our answer. */
export type OnPurpose = Readonly<Record<string, RegExp>>;

/** Keys of states' results that differ from run to run. */
const VARIABLE = ["start_time", "duration", "__run_num__"];

/** The value with the names of places in place of the test's own, and without what differs from run to run. */
export function masked(value: Value, places: readonly (readonly [string, string])[]): Value {
  if (typeof value === "string") {
    const text = places.reduce((text, [path, name]) => text.replaceAll(path, name), value);
    return text.includes("Traceback (most recent") ? ownFrames(text) : text;
  }
  // Salt's client shows bytes as text where they are UTF-8; what comes from a minion is bytes.
  if (value instanceof Uint8Array) return textOf(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => masked(item, places));
  if (!isMap(value)) return value;
  // Of a malformed return Salt's result has no place.
  const left = value.get("name") === "later" ? [...VARIABLE, "__sls__", "__id__"] : VARIABLE;
  const kept = [...value].filter(([key]) => typeof key !== "string" || !left.includes(key));
  return new Map(kept.map(([key, item]) => [masked(key, places), masked(item, places)] as const));
}

/** The text of bytes; `undefined` if they are not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A traceback without the frames of Python's own files, and without lines of carets. */
function ownFrames(text: string): string {
  const frame = /^ {2}File "[^"]*\/lib\/python[\d.]+\/[^"]*", line \d+, in .*\n(?: {4}.*\n)*/gm;
  return text.replace(/^ {4}[ ~^]+\n/gm, "").replace(frame, "");
}

/** Whether two returns are the same for an operator. */
function same(ours: Value, salts: Value): boolean {
  if (equals(ours, salts)) return true;
  // Ours names the function that may be meant.
  return typeof ours === "string" && ours.replace(/ Did you mean .*\?$/, "") === salts;
}

/** A step in the words of an operator. */
function callOf({ fun, words = [], executors }: RuleStep): string {
  return [fun, ...words, ...executors === undefined ? [] : [`by ${JSON.stringify(executors)}`]].join(" ");
}

/** Compares an answer with the recorded one. */
function compare(step: RuleStep, given: Answer, places: readonly (readonly [string, string])[]): Difference[] {
  const call = callOf(step);
  const ours = masked(given.value, places);
  const show = (value: Value, retcode: number) => `${repr(value)} ${retcode}`;
  if (step.return === undefined) return [{ call, ours: show(ours, given.retcode), salts: "no answer" }];
  const salts = fromTyped(step.return), retcode = step.retcode ?? 0;
  if (same(ours, salts) && given.retcode === retcode) return [];
  const [a, b] = isMap(ours) && isMap(salts) ? [differing(ours, salts), differing(salts, ours)] : [ours, salts];
  return [{ call, ours: show(a, given.retcode), salts: show(b, retcode) }];
}

/** The entries of a map that another one does not have. */
function differing(one: ValueMap, other: ValueMap): ValueMap {
  return new Map([...one].filter(([key, value]) => {
    const others = other.get(key);
    return others === undefined || !equals(value, others);
  }));
}

/** The differences that are not on purpose, and those on purpose that are none. */
export function unexpected(differences: readonly Difference[], purpose: OnPurpose): string[] {
  const seen = new Set(differences.map(({ call }) => call));
  const wrong = differences.filter(({ call, ours }) => !Object.hasOwn(purpose, call) || !purpose[call].test(ours));
  return [
    ...wrong.map(({ call, ours, salts }) => `${call}:\n  ours  ${ours}\n  Salt's ${salts}`),
    ...Object.keys(purpose).filter((call) => !seen.has(call)).map((call) => `${call}: the same as Salt's`),
  ];
}

/** Where a file of the tree lies for a minion that has synchronized it. */
function placeOf(path: string, root: string): string {
  const own = /^_(\w+)\/(.*)$/.exec(path);
  return own === null ? `${root}/srv/${path}` : `${root}/ext/${own[1]}/${own[2]}`;
}

/** The grains of a minion that has the files of a rule. */
async function grainsWith(steps: readonly RuleStep[], options: Readonly<Record<string, Value>>): Promise<ValueMap> {
  const facts: Readonly<Record<string, Value>> = { own: "grain", kernel: "Linux", os: "Debian", os_family: "Debian" };
  if (!steps.some(({ write }) => write?.startsWith("_grains/"))) return map({ id: "m1", ...facts });
  const root = Deno.makeTempDirSync({ prefix: "python_rules_" });
  try {
    writeFiles(steps, root);
    const places = { cachedir: `${root}/cache`, sock_dir: `${root}/sock`, extension_modules: `${root}/ext` };
    const opts = testOpts({ id: "m1", root_dir: root, ...places, grains: map(facts), ...options });
    return await loadGrains(opts, { core: CORE_GRAINS, warn: () => {} });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** Writes the files of a rule, the first text of each. */
function writeFiles(steps: readonly RuleStep[], root: string): void {
  for (const step of [...steps].reverse()) writeStep(step, root);
}

function writeStep({ write, text = "" }: RuleStep, root: string): void {
  if (write === undefined) return;
  const path = placeOf(write, root);
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/**
 * Replays a rule on a pool that has all files from the start.
 * @param python The option `python`.
 */
export async function replay(name: string, python?: string): Promise<Difference[]> {
  const { pillar, steps, ...rule } = readRule(name);
  const options = Object.fromEntries(Object.entries(rule.options).map(([key, value]) => [key, toValue(value)]));
  await using pool = new PythonPool({}, {
    pillar: new Map(Object.entries(pillar).map(([key, value]) => [key, toValue(value)] as const)),
    grains: await grainsWith(steps, options),
    configure: (root) => {
      writeFiles(steps, root);
      return {
        id: "m1",
        file_client: "local",
        file_roots: map({ base: [`${root}/srv`] }),
        ...options,
        ...python && { python },
      };
    },
  });
  const places = [
    [`${pool.root}/ext`, "{EXT}"],
    [`${pool.root}/cache/files/base`, "{CACHE}"],
    [pool.root, "{ROOT}"],
  ] as const;
  const differences: Difference[] = [];
  for (const step of steps) {
    const { fun, words = [] } = step;
    writeStep(step, pool.root);
    if (fun === undefined || fun.startsWith("saltutil.")) continue;
    const { args, kwargs } = parseCliArgs(words);
    const outcome = await pool.start(fun, toWireArgs(args, kwargs), {
      tgt: "m1",
      ...step.executors !== undefined && { module_executors: toValue(step.executors) },
    }).outcome;
    const retcode = Number(outcome.get("retcode") ?? 0);
    differences.push(...compare(step, { value: outcome.get("return") ?? null, retcode }, places));
  }
  return differences;
}

/** Replays a rule on a fleet, whose minion synchronizes the files from its master. */
export async function replayOnFleet(name: string, fleet: Fleet): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const step of readRule(name).steps) {
    changeTree(step, fleet.root);
    if (step.fun === undefined) continue;
    const { code, out } = await fleet.salt("--out=json", "--static", "m1", step.fun, ...step.words ?? []);
    const returned = parseJson(out);
    const value = isMap(returned) ? returned.get("m1") ?? null : returned;
    // The command's exit code is that of its minions, or 1.
    differences.push(...compare(step, { value, retcode: code === 0 ? 0 : step.retcode ?? code }, []));
  }
  return differences;
}

/** With a master one job of so many runs, besides those after a change and those that are ours on purpose. */
const ONE_OF = 3;

/**
 * Replays jobs of a rule with a master, whose minion synchronizes all plugins when one has changed.
 * @param purpose What is ours on purpose.
 * @param python The option `python`.
 */
export async function replayWithMaster(name: string, purpose: OnPurpose, python?: string): Promise<Difference[]> {
  const { options, pillar, steps } = readRule(name);
  await using fleet = await startRuleFleet(pillar, { ...options, ...python && { python } });
  const cache = `${fleet.root}/m1/var/cache/salt/minion`;
  const places = [
    [`${cache}/extmods`, "{EXT}"],
    [`${cache}/files/base`, "{CACHE}"],
    [`${fleet.root}/srv`, "{SRV}"],
    [fleet.root, "{ROOT}"],
  ] as const;
  const differences: Difference[] = [];
  let changed = false;
  for (const [index, step] of steps.entries()) {
    changed = changeTree(step, fleet.root) || changed;
    if (step.fun === undefined) continue;
    const isOurs = Object.hasOwn(purpose, callOf(step));
    if (!changed && !isOurs && !step.fun.startsWith("saltutil.") && index % ONE_OF !== 0) continue;
    if (changed && !step.fun.startsWith("saltutil.sync")) await runOn(fleet, "m1", "saltutil.sync_all");
    changed = false;
    differences.push(...compare(step, await answerOf(step, fleet), places));
  }
  return differences;
}

/** The answer of the minion to the job of a step. */
async function answerOf({ fun = "", words = [], executors }: RuleStep, fleet: Fleet): Promise<Answer> {
  const { args, kwargs } = parseCliArgs(words);
  const fields = executors === undefined ? {} : { module_executors: toValue(executors) };
  const { done } = await startJob(fleet, fun, { tgt: "m1", arg: args, kwargs: Object.fromEntries(kwargs), fields });
  const [returned] = await done;
  if (returned?.kind !== "returned") throw new Error(`m1 did not return for ${fun} ${words.join(" ")}`);
  return { value: returned.return, retcode: Number(returned.retcode) };
}

/**
 * Writes or removes the file of a step in the tree of a fleet's master.
 * @returns Whether it is a plugin's.
 */
function changeTree({ write, text = "", remove }: RuleStep, root: string): boolean {
  if (remove !== undefined) Deno.removeSync(`${root}/srv/${remove}`);
  if (write !== undefined) {
    const path = `${root}/srv/${write}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }
  return (write ?? remove ?? "").startsWith("_");
}

/** A master with the pillar of a rule, and its minion with the options of it. */
async function startRuleFleet(
  pillar: Readonly<Record<string, unknown>>,
  options: Readonly<Record<string, unknown>>,
): Promise<Fleet> {
  const master: Record<string, unknown> = { fileserver_list_cache_time: 0 };
  const minion = { startup_states: "", grains: { own: "grain" }, ...options };
  const fleet = new Fleet({ minions: ["m1"], master, minion });
  master.pillar_roots = { base: [`${fleet.root}/pillar`] };
  for (const path of ["srv", "pillar"]) Deno.mkdirSync(`${fleet.root}/${path}`);
  Deno.writeTextFileSync(`${fleet.root}/pillar/top.sls`, "base: {'*': [own]}\n");
  Deno.writeTextFileSync(`${fleet.root}/pillar/own.sls`, JSON.stringify(pillar));
  await fleet.startMaster();
  await fleet.untilServing(["m1"], () => fleet.startMinion("m1"));
  return fleet;
}
