/**
 * Execution module `nftables`: tables, chains and rules of nftables.
 * Source: the functions of Salt 3008.3 `salt/modules/nftables.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import * as nftables from "#lib/host/firewall/nft.ts";
import { buildNftRule, FAMILY_NAMES } from "#lib/host/firewall/nft_rule.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["nft"],
    otherwise: "The nftables execution module failed to load: nftables is not installed.",
  }],
};

const FAMILY = { family: p.str("ipv4") };
const CHAIN = { table: p.str("filter"), chain: p.str(null) };

function failedOutcome(comment: string): nftables.NftOutcome {
  return { comment, result: false };
}

/** Where rules are saved. */
function savedPath({ grains }: JobContext): string | undefined {
  const isKnown = ["RedHat", "Arch", "Debian"].includes(str(grains.get("os_family") ?? ""));
  return isKnown || grains.get("os") === "Gentoo" ? "/etc/nftables" : undefined;
}

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of nftables.", "nftables.version"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => (await nftables.nft(["--version"], context)).split(/\s+/)[1] ?? "",
});

export const build_rule: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Build a rule from keywords: if, of, proto, connstate, icmp-type, icmpv6-type, pkttype, counter, saddr, daddr, dport,\n" +
      "sport, dports, sports, jump, redirect-to, to-source, to-destination, reject-with. full=True: the whole command, with\n" +
      "table, chain and command, and for insert also position.",
    "nftables.build_rule match=state \\\n        connstate=RELATED,ESTABLISHED jump=ACCEPT",
    "nftables.build_rule filter input command=insert position=3 \\\n        full=True match=state state=related,established jump=accept",
  ),
  permissions: "all",
  params: {
    table: p.str(null),
    chain: p.str(null),
    command: p.str(null),
    position: p.str(""),
    full: p.any(null),
    ...FAMILY,
  },
  varKwargs: "kwargs",
  run({ table, chain, command, position, full, family }, _context, { kwargs }) {
    const name = nftables.nftFamily(family);
    const rule = buildNftRule(kwargs, name);
    const answer = { comment: rule === "" ? "" : "Successfully built rule", rule, result: true };
    if (full !== true && !["True", "true"].includes(str(full))) return answer;
    const missing = [["Table", table], ["Chain", chain], ["Command", command]].find(([, value]) => !value);
    if (missing !== undefined) return { comment: `${missing[0]} needs to be specified`, rule, result: false };
    const isInsert = command?.toLowerCase() === "insert";
    const at = isInsert && position !== "" ? `position ${position} ` : "";
    const whole = `nft ${isInsert ? "insert" : command} rule ${name} ${table} ${chain} ${at}${rule}`;
    return { ...answer, comment: "Successfully built rule", rule: whole };
  },
});

export const get_saved_rules: ModuleFunction<JobContext> = fn({
  doc: describe("Return the lines of the saved rules.", "nftables.get_saved_rules"),
  permissions: "all",
  params: { conf_file: p.str(null) },
  run({ conf_file }, context) {
    const path = conf_file ?? savedPath(context);
    if (path === undefined || !isFile(path)) throw new CommandError(`No saved rules: ${path ?? "no file is known"}`);
    const lines = Deno.readTextFileSync(path).split(/(?<=\n)/);
    return lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
  },
});

export const list_tables: ModuleFunction<JobContext> = fn({
  doc: describe("Return the tables of a family.", "nftables.list_tables", "nftables.list_tables family=ipv6"),
  permissions: "all",
  params: FAMILY,
  run: ({ family }, context) => nftables.tablesOf(family, context),
});

export const get_rules: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the rules of a family, a text for each table.",
    "nftables.get_rules",
    "nftables.get_rules family=ipv6",
  ),
  permissions: "all",
  params: FAMILY,
  run: ({ family }, context) => nftables.rulesOf(family, context),
});

export const get_rules_json: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the rules of a family as maps.",
    "nftables.get_rules_json",
    "nftables.get_rules_json family=ipv6",
  ),
  permissions: "all",
  params: FAMILY,
  run: ({ family }, context) => nftables.rulesetOf(family, context),
});

export const save: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Save the rules of all families into a file (in a directory: salt-all-in-one.nft), and return them.",
    "nftables.save /etc/nftables",
  ),
  permissions: "all",
  params: { filename: p.str(null), ...FAMILY },
  async run({ filename }, context) {
    const given = filename || savedPath(context);
    if (given === undefined) throw new CommandError("Problem writing to configuration file: no file is known");
    let rules = "#! nft -f\n";
    for (const family of FAMILY_NAMES) {
      const texts = await nftables.rulesOf(family, context);
      rules += `${texts.length > 0 ? "\n" : ""}${texts.join("\n")}`;
    }
    rules += "\n";
    const path = isDirectory(given) ? `${given}/salt-all-in-one.nft` : given;
    replaceFile(path, new TextEncoder().encode(rules));
    return rules;
  },
});

const RULE = { ...CHAIN, rule: p.str(null), ...FAMILY };

/** The missing arguments of a rule. */
function missingRule({ chain, rule }: { readonly chain: string | null; readonly rule: string | null }) {
  if (!chain) return failedOutcome("Chain needs to be specified");
  return rule ? undefined : failedOutcome("Rule needs to be specified");
}

export const get_rule_handle: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the handle of a rule.",
    "nftables.get_rule_handle filter input \\\n        rule='tcp dport 22 log accept'",
  ),
  permissions: "all",
  params: RULE,
  async run({ rule, ...place }, context) {
    const missing = missingRule({ chain: place.chain, rule }) ?? await nftables.missingPlace(place, context);
    if (missing !== undefined) return missing;
    const lookup = await nftables.findRule(place, rule ?? "", context);
    if (!lookup.result) return lookup;
    const handle = await nftables.handleOf(place, rule ?? "", context);
    return handle === undefined ? { result: false, comment: `Could not find rule ${rule}` } : { result: true, handle };
  },
});

export const check: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a chain has a rule.",
    "nftables.check filter input \\\n        rule='tcp dport 22 log accept'",
  ),
  permissions: "all",
  params: RULE,
  run: async ({ rule, ...place }, context) =>
    missingRule({ chain: place.chain, rule }) ?? await nftables.missingPlace(place, context) ??
      await nftables.findRule(place, rule ?? "", context),
});

export const check_chain: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a chain.", "nftables.check_chain filter input"),
  permissions: "all",
  params: { ...CHAIN, ...FAMILY },
  run: (place, context) => nftables.findChain(place, context),
});

export const check_table: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a table.", "nftables.check_table nat"),
  permissions: "all",
  params: { table: p.str(null), ...FAMILY },
  run: ({ table, family }, context) => nftables.findTable(table, family, context),
});

/** The result of a change: nft prints nothing if it succeeds. */
async function runChange(
  words: readonly string[],
  { done, not }: { readonly done: string; readonly not: string },
  context: JobContext,
): Promise<nftables.NftOutcome> {
  const answer = await nftables.nft(words, context);
  return answer === "" ? { comment: done, result: true } : failedOutcome(not);
}

export const new_table: ModuleFunction<JobContext> = fn({
  doc: describe("Make a table.", "nftables.new_table filter"),
  permissions: "all",
  params: { table: p.str(), ...FAMILY },
  async run({ table, family }, context) {
    const lookup = await nftables.findTable(table, family, context);
    if (lookup.result || table === "") return lookup;
    const what = `Table ${table} in family ${family}`;
    const words = ["add", "table", nftables.nftFamily(family), nftables.nameWord(table)];
    return await runChange(words, { done: `${what} created`, not: `${what} could not be created` }, context);
  },
});

export const delete_table: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a table.", "nftables.delete_table filter"),
  permissions: "all",
  params: { table: p.str(), ...FAMILY },
  async run({ table, family }, context) {
    const lookup = await nftables.findTable(table, family, context);
    if (!lookup.result) return lookup;
    const what = `Table ${table} in family ${family}`;
    const words = ["delete", "table", nftables.nftFamily(family), nftables.nameWord(table)];
    return await runChange(words, { done: `${what} deleted`, not: `${what} could not be deleted` }, context);
  },
});

export const new_chain: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a chain; a base chain has table_type, hook and priority.",
    "nftables.new_chain filter input",
    "nftables.new_chain filter input \\\n            table_type=filter hook=input priority=0",
  ),
  permissions: "all",
  params: { ...CHAIN, table_type: p.str(null), hook: p.str(null), priority: p.str(null), ...FAMILY },
  async run({ table_type, hook, priority, ...place }, context) {
    const { table, chain, family } = place;
    if (!chain) return failedOutcome("Chain needs to be specified");
    const lookup = await nftables.findTable(table, family, context);
    if (!lookup.result) return lookup;
    const what = `Chain ${chain} in table ${table} in family ${family}`;
    if ((await nftables.findChain(place, context)).result) return failedOutcome(`${what} already exists`);
    const isBase = table_type || hook || (priority !== null && priority !== "0");
    if (isBase && !(table_type && hook)) return failedOutcome("Table_type, hook, and priority required.");
    const base = isBase ? ["{", "type", table_type ?? "", "hook", hook ?? "", "priority", `${priority};`, "}"] : [];
    const words = [
      "--",
      "add",
      "chain",
      nftables.nftFamily(family),
      nftables.nameWord(table),
      nftables.nameWord(chain),
    ];
    const comments = { done: `${what} created`, not: `${what} could not be created` };
    return await runChange([...words, ...base], comments, context);
  },
});

export const delete_chain: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a chain.", "nftables.delete_chain filter input"),
  permissions: "all",
  params: { ...CHAIN, ...FAMILY },
  async run(place, context) {
    const { table, chain, family } = place;
    if (!chain) return failedOutcome("Chain needs to be specified");
    const missing = await nftables.missingPlace(place, context);
    if (missing !== undefined) return missing;
    const what = `Chain ${chain} in table ${table} in family ${family}`;
    const words = ["delete", "chain", nftables.nftFamily(family), nftables.nameWord(table), nftables.nameWord(chain)];
    return await runChange(words, { done: `${what} deleted`, not: `${what} could not be deleted` }, context);
  },
});

/**
 * Adds a rule that is not there.
 * @param how The words before it: a command, and those behind the chain.
 */
async function addRule(
  place: nftables.RulePlace,
  rule: string | null,
  { command, behind, context }: {
    readonly command: "add" | "insert";
    readonly behind: readonly string[];
    readonly context: JobContext;
  },
): Promise<nftables.NftOutcome> {
  const { table, chain, family } = place;
  const missing = missingRule({ chain, rule }) ?? await nftables.missingPlace(place, context);
  if (missing !== undefined) return missing;
  const where = `chain ${chain} in table ${table} in family ${family}`;
  if ((await nftables.findRule(place, rule ?? "", context)).result) {
    return failedOutcome(`Rule ${rule} ${where} already exists`);
  }
  const names = [nftables.nftFamily(family), nftables.nameWord(table), nftables.nameWord(chain ?? "")];
  const words = [command, "rule", ...names, ...behind, ...nftables.ruleWords(rule ?? "")];
  const comments = { done: `Added rule "${rule}" ${where}.`, not: `Failed to add rule "${rule}" ${where}.` };
  return await runChange(words, comments, context);
}

export const append: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a rule at the end of a chain, if it is not there.",
    "nftables.append filter input \\\n        rule='tcp dport 22 log accept'",
  ),
  permissions: "all",
  params: RULE,
  run: ({ rule, ...place }, context) => addRule(place, rule, { command: "add", behind: [], context }),
});

export const insert: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a rule at the beginning of a chain, or before a position, if it is not there.",
    "nftables.insert filter input \\\n        rule='tcp dport 22 log accept'",
    "nftables.insert filter input position=3 \\\n        rule='tcp dport 22 log accept'",
  ),
  permissions: "all",
  params: { ...CHAIN, position: p.str(null), rule: p.str(null), ...FAMILY },
  run: ({ rule, position, ...place }, context) =>
    addRule(place, rule, { command: "insert", behind: position ? ["position", position] : [], context }),
});

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a rule of a chain, by its text or its handle (position).",
    "nftables.delete filter input position=3",
    "nftables.delete filter input \\\n        rule='tcp dport 22 log accept'",
  ),
  permissions: "all",
  params: { table: p.str(), chain: p.str(null), position: p.str(null), rule: p.str(null), ...FAMILY },
  async run({ position, rule, ...place }, context) {
    const { table, chain, family } = place;
    if (position && rule) return failedOutcome("Only specify a position or a rule, not both");
    const missing = await nftables.missingPlace(place, context);
    if (missing !== undefined) return missing;
    const ruleText = rule ?? "None";
    const handle = position || (rule && await nftables.handleOf(place, rule, context));
    if (!handle) {
      return failedOutcome(`Rule ${ruleText} chain ${chain} in table ${table} in family ${family} does not exist`);
    }
    const names = [nftables.nftFamily(family), nftables.nameWord(table), nftables.nameWord(chain ?? "")];
    const words = ["delete", "rule", ...names, "handle", nftables.nameWord(handle)];
    const what = `"${ruleText}" in chain ${chain}`;
    return await runChange(words, {
      done: `Deleted rule ${what} in table ${table} in family ${family}.`,
      not: `Failed to delete rule ${what}  table ${table} in family ${family}`,
    }, context);
  },
});

export const flush: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete all rules of a chain, or, without chain, of a table.",
    "nftables.flush filter",
    "nftables.flush filter input",
  ),
  permissions: "all",
  params: { table: p.str("filter"), chain: p.str(""), ...FAMILY },
  async run(place, context) {
    const { table, chain, family } = place;
    const lookup = await nftables.findTable(table, family, context);
    if (!lookup.result) return lookup;
    const name = nftables.nftFamily(family);
    if (chain === "") {
      const comment = `from table ${table} in family ${family}.`;
      const words = ["flush", "table", name, nftables.nameWord(table)];
      return await runChange(words, flushTexts(comment), context);
    }
    const there = await nftables.findChain(place, context);
    if (!there.result) return there;
    const comment = `from chain ${chain} in table ${table} in family ${family}.`;
    return await runChange(
      ["flush", "chain", name, nftables.nameWord(table), nftables.nameWord(chain)],
      flushTexts(comment),
      context,
    );
  },
});

function flushTexts(where: string): { readonly done: string; readonly not: string } {
  return { done: `Flushed rules ${where}`, not: `Failed to flush rules ${where}` };
}

/** A chain as nft's JSON tells it. */
async function chainMap({ table, chain, family }: nftables.RulePlace, context: JobContext) {
  const all = await nftables.rulesetOf(family, context);
  return all.map((one) => one.get("chain") ?? null).filter(isMap).find((one) =>
    one.get("table") === table && one.get("name") === chain
  );
}

export const get_policy: ModuleFunction<JobContext> = fn({
  doc: describe("Return the policy of a chain; None if it has none.", "nftables.get_policy filter input"),
  permissions: "all",
  params: { ...CHAIN, ...FAMILY },
  async run(place, context): Promise<Value> {
    if (!place.chain) return "Error: Chain needs to be specified";
    return (await chainMap(place, context))?.get("policy") ?? null;
  },
});

export const set_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the policy of a base chain. Return whether it succeeded.",
    "nftables.set_policy filter input accept",
  ),
  permissions: "all",
  params: { ...CHAIN, policy: p.str(null), ...FAMILY },
  async run({ policy, ...place }, context) {
    const { table, chain, family } = place;
    if (!chain) return "Error: Chain needs to be specified";
    if (!policy) return "Error: Policy needs to be specified";
    const chainInfo = await chainMap(place, context);
    if (chainInfo === undefined || !["type", "hook", "prio"].every((key) => chainInfo.has(key))) return false;
    const value = (key: string) => str(chainInfo.get(key) ?? "");
    const base = `{ type ${value("type")} hook ${value("hook")} priority ${value("prio")}; policy ${policy}; }`;
    const names = [nftables.nftFamily(family), nftables.nameWord(table), nftables.nameWord(chain)];
    const words = ["nft", "add", "chain", ...names, base];
    return (await runProgram(words, context, { setsRetcode: true })).retcode === 0;
  },
});
