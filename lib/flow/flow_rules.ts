/**
 * The option `flow`: how many jobs users may publish, and how much minions may send. The first rule that matches
 * counts.
 *
 *     flow:
 *       - {user: ci, jobs: 10/s, burst: 50}
 *       - {fun: 'state.*', running: 200}
 *       - {minion: '*', returns: 50/s, events: 20/s, bytes: 1M/s, burst: 500}
 *
 * @module
 */

import { ConfigError } from "#lib/errors.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isMap, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** How much may come at once, and then in each second. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** How many jobs a user may publish. */
export interface JobRule {
  /** Its place in the option, from 1. */
  readonly rule: number;
  readonly jobs: Rate;
  matches(user: string, funs: readonly string[]): boolean;
}

/** On how many minions jobs may run at once. */
export interface RunningRule {
  /** Its place in the option, from 1. */
  readonly rule: number;
  readonly running: number;
  matches(user: string, funs: readonly string[]): boolean;
}

/** How much each minion may send. What is missing has the bounds of a master without rules. */
export interface MinionRule {
  /** Its place in the option, from 1. */
  readonly rule: number;
  readonly returns?: Rate;
  readonly events?: Rate;
  readonly bytes?: Rate;
  matches(id: string): boolean;
}

/** All rules, each kind in the order of the option. */
export interface FlowRules {
  readonly jobs: readonly JobRule[];
  readonly running: readonly RunningRule[];
  readonly minions: readonly MinionRule[];
}

const JOB_KEYS = ["user", "fun", "jobs", "running", "burst"];
const MINION_KEYS = ["minion", "returns", "events", "bytes", "burst"];
/** Amounts of a minion's rule. */
const AMOUNTS = ["returns", "events", "bytes"] as const;

/** A rate: a number, with K, M or G for bytes, by second, minute or hour. */
const RATE = /^(\d+(?:\.\d+)?)([KMG]?)(?:\/(s|m|h))?$/;
const UNITS: Readonly<Record<string, number>> = { "": 1, K: 1e3, M: 1e6, G: 1e9 };
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/**
 * The rules of the option.
 * @throws {ConfigError} With the place of a rule that cannot be read.
 */
export function parseFlow(option: Value): FlowRules {
  if (option === null) return { jobs: [], running: [], minions: [] };
  if (!Array.isArray(option)) throw new ConfigError("this is no list of rules", { option: "flow" });
  const jobs: JobRule[] = [], running: RunningRule[] = [], minions: MinionRule[] = [];
  for (const [i, value] of option.entries()) {
    if (!isMap(value)) throw refusal(i + 1, `${truncateRepr(value)} is no rule`);
    if (value.has("minion")) minions.push(minionRule(value, i + 1));
    else {
      const matches = jobsOf(value, i + 1);
      if (value.has("jobs")) jobs.push({ rule: i + 1, jobs: bound(value, "jobs", i + 1), matches });
      if (value.has("running")) running.push({ rule: i + 1, running: placesOf(value, i + 1), matches });
    }
  }
  return { jobs, running, minions };
}

/** Which jobs a rule is about. */
function jobsOf(value: ValueMap, rule: number): JobRule["matches"] {
  checkKeys(value, JOB_KEYS, rule);
  if (!value.has("user") && !value.has("fun")) throw refusal(rule, "it needs `user`, `fun` or `minion`");
  if (!value.has("jobs") && !value.has("running")) {
    throw refusal(rule, "it needs `jobs`, a number like 10/s, or `running`, a number of minions");
  }
  const user = globOf(value, "user", rule), fun = globOf(value, "fun", rule);
  return (name, funs) => user(name) && funs.some(fun);
}

function placesOf(value: ValueMap, rule: number): number {
  const places = toNumber(value.get("running"));
  if (places !== undefined && Number.isSafeInteger(places) && places > 0) return places;
  throw refusal(rule, `its \`running\` is no number of minions above 0: ${truncateRepr(value.get("running") ?? null)}`);
}

function minionRule(value: ValueMap, rule: number): MinionRule {
  checkKeys(value, MINION_KEYS, rule);
  const amounts = AMOUNTS.filter((name) => value.has(name));
  if (amounts.length === 0) throw refusal(rule, "it needs `returns`, `events` or `bytes`");
  return {
    rule,
    ...Object.fromEntries(amounts.map((name) => [name, bound(value, name, rule)])),
    matches: globOf(value, "minion", rule),
  };
}

function checkKeys(value: ValueMap, keys: readonly string[], rule: number): void {
  for (const key of value.keys()) {
    if (typeof key !== "string" || !keys.includes(key)) {
      throw refusal(rule, `it has the unknown key ${truncateRepr(key)}${didYouMean(String(key), keys)}`);
    }
  }
}

/** The test of a key's glob; any name passes if there is no such key. */
function globOf(value: ValueMap, key: string, rule: number): (name: string) => boolean {
  const glob = value.get(key);
  if (glob === undefined) return () => true;
  if (typeof glob !== "string" || glob === "") throw refusal(rule, `its \`${key}\` is no name: ${truncateRepr(glob)}`);
  return compileGlob(glob);
}

function bound(value: ValueMap, key: string, rule: number): Rate {
  const perSecond = rateOf(value.get(key) ?? null);
  if (perSecond === undefined) {
    throw refusal(rule, `its \`${key}\` is no rate like 10/s, 60/m or 1M/s: ${truncateRepr(value.get(key) ?? null)}`);
  }
  const burst = value.has("burst") ? toNumber(value.get("burst")) : perSecond;
  if (burst === undefined || !(burst > 0)) {
    throw refusal(rule, `its \`burst\` is no number above 0: ${truncateRepr(value.get("burst") ?? null)}`);
  }
  // `burst` counts jobs, returns and events. Of bytes one second's may come at once.
  return { perSecond, burst: key === "bytes" ? perSecond : Math.max(1, burst) };
}

/** What a rate is in each second; `undefined` if it is none. */
function rateOf(value: Value): number | undefined {
  const parts = RATE.exec(typeof value === "number" || typeof value === "bigint" ? String(value) : String(value ?? ""));
  if (parts === null) return undefined;
  const perSecond = Number(parts[1]) * UNITS[parts[2]] / SECONDS[parts[3] ?? "s"];
  return perSecond > 0 ? perSecond : undefined;
}

function refusal(rule: number, problem: string): ConfigError {
  return new ConfigError(`rule ${rule}: ${problem}`, { option: "flow" });
}
