/**
 * Replays what `salt-call`, with a master and with `--local`, of Salt 3008.3 shows with plugins in Python
 * (tests/corpus/python_calls): the files and words of the rules, in the same order.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, repr, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { Fleet } from "#tests/support/fleet/fleet.ts";
import { masked, type OnPurpose, readRule, type RuleStep } from "./python_rules.ts";

/** What a command shows. */
interface Shown {
  /** Standard output: JSON, or text if it is none. */
  readonly out: Value;
  readonly err: string;
  readonly code: number;
}

/** A recorded command. */
interface RecordedCall {
  readonly fun: string;
  readonly words: readonly string[];
  /** With a master. */
  readonly live: Shown;
  /** Without; absent: the same. */
  readonly local?: Shown;
}

/** How `salt-call` is called. */
export type CallMode = "live" | "local";

/**
 * One command of so many runs, besides those that show something else in the other mode, and those that are ours on
 * purpose. The same functions run as jobs, all of them (python_rules_test.ts), and each command here starts a Python.
 */
const ONE_OF: Readonly<Record<CallMode, number>> = { live: 6, local: 4 };

function readCalls(name: string): readonly RecordedCall[] {
  const path = new URL(`../../corpus/python_calls/${name}.json`, import.meta.url);
  // Integers keep all their digits.
  return listOrEmpty(mapOrEmpty(parseJson(Deno.readTextFileSync(path))).get("calls")).map(mapOrEmpty).map((call) => {
    const local = call.get("local");
    return {
      fun: str(call.get("fun") ?? ""),
      words: listOrEmpty(call.get("words")).map(str),
      live: shownIn(mapOrEmpty(call.get("live"))),
      ...local !== undefined && { local: shownIn(mapOrEmpty(local)) },
    };
  });
}

function shownIn(shown: ValueMap): Shown {
  return { out: shown.get("out") ?? null, err: str(shown.get("err") ?? ""), code: toNumber(shown.get("code")) ?? 0 };
}

/** Writes or removes the file of a step, where a minion has synchronized it. */
function changeFile({ write, text = "", remove }: RuleStep, root: string): void {
  const placeOf = (path: string) => `${extOf(root)}/${path.replace(/^_/, "")}`;
  if (remove !== undefined) Deno.removeSync(placeOf(remove));
  if (write === undefined) return;
  const path = write.startsWith("_") ? placeOf(write) : `${root}/srv/${write}`;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/** Standard output as data if it is JSON. */
function parsed(out: string): Value {
  try {
    return parseJson(out);
  } catch {
    return out;
  }
}

/** Salt prints `None` as the usage of a function without documentation. */
function withoutNone(shown: Shown): Shown {
  return shown.out === "None\n" && shown.err.endsWith("Usage:\n") ? { ...shown, out: "\n" } : shown;
}

/** What a command shows, as one text. */
function textOf(out: Value, err: string, code: number): string {
  return `${repr(out)}${err === "" ? "" : ` ${repr(err)}`} ${code}`;
}

/** Whether a pattern is for what a command shows, or for the return that it shows, as of a job. */
function isMeant(pattern: RegExp, shown: string, { out, code }: Pick<Shown, "out" | "code">): boolean {
  return pattern.test(shown) || (isMap(out) && pattern.test(textOf(out.get("local") ?? null, "", code)));
}

/**
 * Replays a rule.
 * @param python The option `python`.
 * @returns The differences that are not on purpose, and those on purpose that are none.
 */
export async function replayCalls(
  name: string,
  mode: CallMode,
  purpose: OnPurpose,
  python?: string,
): Promise<string[]> {
  const { steps, options, pillar } = readRule(name), calls = readCalls(name);
  await using fleet = await startCallFleet({ ...options, ...python && { python } }, pillar);
  const wrong: string[] = [], seen = new Set<string>(), same = new Set<string>();
  const places = [
    [extOf(fleet.root), "{EXT}"],
    [`${fleet.root}/m1/var/cache/salt/minion/files/base`, "{CACHE}"],
    [fleet.root, "{ROOT}"],
  ] as const;
  let i = 0;
  for (const step of steps) {
    changeFile(step, fleet.root);
    if (step.fun === undefined || step.fun.startsWith("saltutil.")) continue;
    const { fun, words, live, local } = calls[i++];
    const by = step.executors === undefined ? [] : [`--module-executors=${JSON.stringify(step.executors)}`];
    const call = [...by, fun, ...words].join(" ");
    const isOurs = mode === "local" && Object.hasOwn(purpose, call);
    if (local === undefined && !isOurs && i % ONE_OF[mode] !== 0) continue;
    const salts = withoutNone(mode === "live" ? live : local ?? live);
    const place = [...mode === "local" ? ["--local"] : [], ...by];
    const { out, err, code } = await fleet.saltCall("m1", ...place, "-l", "quiet", "--out=json", fun, ...words);
    const ours = [masked(parsed(out), places), masked(err, places)] as const;
    const theirs = [masked(salts.out, places), masked(salts.err, places)] as const;
    if (equals(ours[0], theirs[0]) && ours[1] === theirs[1] && code === salts.code) {
      same.add(call);
      continue;
    }
    seen.add(call);
    const shown = textOf(ours[0], String(ours[1]), code);
    if (Object.hasOwn(purpose, call) && isMeant(purpose[call], shown, { out: ours[0], code })) continue;
    wrong.push(`${call}:\n  ours   ${shown}\n  Salt's ${textOf(theirs[0], String(theirs[1]), salts.code)}`);
  }
  return [...wrong, ...Object.keys(purpose).filter((call) => same.has(call)).map((call) => `${call}: as Salt's`)];
}

/** A master and a minion, which has the plugins of a rule below `ext` of its own directory. */
async function startCallFleet(
  options: Readonly<Record<string, unknown>>,
  pillar: Readonly<Record<string, unknown>>,
): Promise<Fleet> {
  const master: Record<string, unknown> = {}, minion: Record<string, unknown> = {};
  const fleet = new Fleet({ minions: ["m1"], master, minion });
  const { root } = fleet;
  const roots = { file_roots: { base: [`${root}/srv`] }, pillar_roots: { base: [`${root}/pillar`] } };
  Object.assign(master, roots);
  Object.assign(minion, roots, { extension_modules: `${extOf(root)}`, grains: { own: "grain" }, ...options });
  for (const path of ["srv", "pillar"]) Deno.mkdirSync(`${root}/${path}`, { recursive: true });
  Deno.mkdirSync(extOf(root), { recursive: true });
  Deno.writeTextFileSync(`${root}/pillar/top.sls`, "base: {'*': [own]}\n");
  Deno.writeTextFileSync(`${root}/pillar/own.sls`, JSON.stringify(pillar));
  await fleet.startMaster();
  await fleet.untilServing(["m1"], () => fleet.startMinion("m1"));
  return fleet;
}

/** The minion's `extension_modules`. */
function extOf(root: string): string {
  return `${root}/m1/ext`;
}
