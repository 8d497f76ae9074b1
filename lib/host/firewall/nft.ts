/**
 * Runs nft, and reads its tables, chains and rules. Source: Salt 3008.3, `salt/modules/nftables.py`; nft(8).
 * @module
 */

import { familyName } from "./nft_rule.ts";
import { InvocationError, JsonError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** A place in the rules. */
export interface RulePlace {
  /** As Salt names it: `ipv4`. */
  readonly family: string;
  readonly table: string;
  readonly chain: string | null;
}

/** The result of a function and its comment. */
export interface NftOutcome {
  readonly comment: string;
  readonly result: boolean;
}

/**
 * Runs nft.
 * @returns Its output.
 */
export async function nft(words: readonly string[], context: JobContext): Promise<string> {
  return (await runProgram(["nft", ...words], context, { joined: true, setsRetcode: true })).stdout;
}

/**
 * nft's name of a family.
 * @throws {InvocationError} If there is none.
 */
export function nftFamily(family: string): string {
  const name = familyName(family);
  if (name !== undefined) return name;
  throw new InvocationError(`Unknown family: ${JSON.stringify(family)}`);
}

/** A table's or chain's name, which is not an option. */
export function nameWord(name: string): string {
  return checkedWord(name, "name");
}

/**
 * The words of a rule.
 * @throws {InvocationError} If one of them would be an option of nft.
 */
export function ruleWords(rule: string): string[] {
  const words = shlexSplit(rule);
  const option = words.find((word) => /^-(?:-|[A-Za-z])/.test(word));
  if (option !== undefined) throw new InvocationError(`Invalid rule: ${JSON.stringify(rule)}`);
  return words;
}

/** The maps of nft's JSON, without the one about nft itself; none if it prints no JSON. */
export async function nftJson(words: readonly string[], context: JobContext): Promise<ValueMap[]> {
  try {
    const output: Value = parseJson(await nft(words, context) || "{}");
    const list = isMap(output) ? output.get("nftables") : undefined;
    return Array.isArray(list) ? list.filter(isMap) : [];
  } catch (error) {
    if (error instanceof JsonError) return [];
    throw error;
  }
}

const NUMERIC = ["--numeric", "--numeric", "--numeric"];

/** The tables of a family: maps with `family`, `name`, `handle`. */
export async function tablesOf(family: string, context: JobContext): Promise<ValueMap[]> {
  const tables = await nftJson(["--json", ...NUMERIC, "list", "tables", nftFamily(family)], context);
  return tables.map((one) => one.get("table") ?? null).filter(isMap);
}

/** The texts of all tables of a family. */
export async function rulesOf(family: string, context: JobContext): Promise<string[]> {
  const texts: string[] = [];
  for (const table of await tablesOf(family, context)) {
    const name = nameWord(String(table.get("name")));
    texts.push(await nft([...NUMERIC, "list", "table", nftFamily(family), name], context));
  }
  return texts;
}

/** All objects of a family, from nft's JSON. */
export function rulesetOf(family: string, context: JobContext): Promise<ValueMap[]> {
  return nftJson([...NUMERIC, "--json", "list", "ruleset", nftFamily(family)], context);
}

/** Whether there is a table. */
export async function findTable(table: string | null, family: string, context: JobContext): Promise<NftOutcome> {
  if (!table) return { comment: "Table needs to be specified", result: false };
  const name = nftFamily(family);
  const exists = (await nft(["list", "tables", name], context)).includes(`table ${name} ${table}`);
  return { comment: `Table ${table} in family ${family} ${exists ? "exists" : "does not exist"}`, result: exists };
}

/** Whether there is a chain. */
export async function findChain({ table, chain, family }: RulePlace, context: JobContext): Promise<NftOutcome> {
  if (!chain) return { comment: "Chain needs to be specified", result: false };
  const text = await nft(["list", "table", nftFamily(family), nameWord(table)], context);
  const found = text.includes(`chain ${chain} {`);
  const exists = found ? "exists" : "does not exist";
  return { comment: `Chain ${chain} in table ${table} in family ${family} ${exists}`, result: found };
}

/** The error if table or chain does not exist; `undefined` if both exist. */
export async function missingPlace(place: RulePlace, context: JobContext): Promise<NftOutcome | undefined> {
  const table = await findTable(place.table, place.family, context);
  if (!table.result) return table;
  const chain = await findChain(place, context);
  return chain.result ? undefined : chain;
}

/** The lines of a chain with their handles, as nft writes rules. */
async function chainLines(
  { table, chain, family }: RulePlace,
  numeric: boolean,
  context: JobContext,
): Promise<string[]> {
  const words = [...numeric ? NUMERIC : [], "--handle", "list", "chain"];
  const text = await nft([...words, nftFamily(family), nameWord(table), nameWord(chain ?? "")], context);
  return text.split("\n");
}

/** A rule without braces around a single element, which nft omits. */
function plainRule(rule: string): string {
  return rule.replaceAll("{ ", "").replaceAll(" }", "").trim();
}

/** Whether a chain has a rule. */
export async function findRule(place: RulePlace, rule: string, context: JobContext): Promise<NftOutcome> {
  const wanted = `${plainRule(rule)} #`;
  const found = (await chainLines(place, false, context)).some((line) => plainRule(line).includes(wanted));
  const { table, chain, family } = place;
  const exists = found ? "exists" : "does not exist";
  return { comment: `Rule ${rule} in chain ${chain} in table ${table} in family ${family} ${exists}`, result: found };
}

/** The handle of a rule in a chain. */
export async function handleOf(place: RulePlace, rule: string, context: JobContext): Promise<string | undefined> {
  const wanted = `${plainRule(rule)} # handle `;
  for (const line of (await chainLines(place, true, context)).map(plainRule)) {
    const at = line.indexOf(wanted);
    const [handle] = at < 0 ? [] : /^\d+/.exec(line.slice(at + wanted.length)) ?? [];
    if (handle !== undefined) return handle;
  }
  return undefined;
}
