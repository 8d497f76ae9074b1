/**
 * State module `iptables`: chains, rules and policies of iptables and ip6tables.
 * Source: Salt 3008.3 `salt/states/iptables.py`.
 * @module
 */

import { callText, changeResult, needArgument, ownArguments, stateOutcome } from "./_firewall.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { declare, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { chunkTag } from "#lib/states/compiler/chunks.ts";
import { asList } from "#lib/values/shape.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["iptables.version"], otherwise: "iptables module could not be loaded" }],
};

const PLACE = { name: p.str(), table: p.str("filter"), family: p.str("ipv4") };

const PLACE_DOC =
  "\n\nname\n    The chain.\n\ntable\n    The table. Default: filter.\n\nfamily\n    ipv4 or ipv6. Default: ipv4.";

export const chain_present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a chain exists.${PLACE_DOC}`,
  params: PLACE,
  async run({ name, table, family }, context) {
    if (await context.call("iptables.check_chain", [table, name, family]) === true) {
      return stateOutcome(name, true, `iptables ${name} chain is already exist in ${table} table for ${family}`);
    }
    if (context.test) {
      return stateOutcome(name, null, `iptables ${name} chain in ${table} table needs to be set for ${family}`);
    }
    const answer = await context.call("iptables.new_chain", [table, name, family]);
    if (answer === true) {
      return changeResult(name, `iptables ${name} chain in ${table} table create success for ${family}`);
    }
    return stateOutcome(
      name,
      false,
      `Failed to create ${name} chain in ${table} table: ${str(answer).trim()} for ${family}`,
    );
  },
});

export const chain_absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a chain does not exist; its rules are removed first.${PLACE_DOC}`,
  params: PLACE,
  async run({ name, table, family }, context) {
    if (!truthy(await context.call("iptables.check_chain", [table, name, family]))) {
      return stateOutcome(name, true, `iptables ${name} chain is already absent in ${table} table for ${family}`);
    }
    if (context.test) {
      return stateOutcome(name, null, `iptables ${name} chain in ${table} table needs to be removed ${family}`);
    }
    const failedResult = (what: string, why: string) =>
      stateOutcome(name, false, `Failed to ${what} ${name} chain in ${table} table: ${why} for ${family}`);
    const flushed = await callText(context, "iptables.flush", [table, name, family]);
    if (flushed !== "") return failedResult("flush", flushed);
    const answer = await context.call("iptables.delete_chain", [table, name, family]);
    if (answer !== true) return failedResult("delete", str(answer).trim());
    return changeResult(name, `iptables ${name} chain in ${table} table delete success for ${family}`);
  },
});

/** One rule: its calls and its texts. */
interface Rule {
  readonly name: string;
  readonly family: string;
  readonly table: string;
  readonly chain: Value;
  /** The options of the rule. */
  readonly rule: Value;
  readonly command: string;
  readonly kwargs: ValueMap;
}

/** A change of a rule, with Salt's words for it. */
interface Change {
  readonly fun: "append" | "insert" | "delete";
  /** The letter of iptables's command. */
  readonly letter: string;
  readonly nothing: (rule: Rule) => string;
  readonly planned: (rule: Rule) => string;
  readonly done: (rule: Rule) => string;
  readonly saved: string;
  readonly failed: (rule: Rule) => string;
  /**
   * Makes the change.
   * @returns Whether it succeeded.
   */
  readonly make: (rule: Rule, context: StateContext) => Promise<boolean>;
}

const APPEND: Change = {
  fun: "append",
  letter: "A",
  nothing: ({ name, command, family }) => `iptables rule for ${name} already set (${command}) for ${family}`,
  planned: ({ name, command, family }) => `iptables rule for ${name} needs to be set (${command}) for ${family}`,
  done: ({ name, command, family }) => `Set iptables rule for ${name} to: ${command} for ${family}`,
  saved: "Set and saved",
  failed: ({ name, command, family }) =>
    `Failed to set iptables rule for ${name}.\nAttempted rule was ${command} for ${family}`,
  make: async ({ table, chain, rule, family }, context) =>
    truthy(await context.call("iptables.append", [table, chain, rule, family])),
};

const INSERT: Change = {
  fun: "insert",
  letter: "I",
  nothing: ({ name, command, family }) => `iptables rule for ${name} already set for ${family} (${command})`,
  planned: ({ name, command, family }) => `iptables rule for ${name} needs to be set for ${family} (${command})`,
  done: APPEND.done,
  saved: "Set and saved",
  failed: ({ name, command }) => `Failed to set iptables rule for ${name}.\nAttempted rule was ${command}`,
  make: async ({ table, chain, rule, family, kwargs }, context) => {
    const position = needArgument(kwargs, "position", "iptables.insert");
    return !truthy(await context.call("iptables.insert", [table, chain, position, rule, family]));
  },
};

const DELETE: Change = {
  fun: "delete",
  letter: "D",
  nothing: ({ name, command, family }) => `iptables rule for ${name} already absent for ${family} (${command})`,
  planned: ({ name, command, family }) => `iptables rule for ${name} needs to be deleted for ${family} (${command})`,
  done: ({ name, command }) => `Delete iptables rule for ${name} ${command}`,
  saved: "Deleted and saved",
  failed: ({ name, command }) => `Failed to delete iptables rule for ${name}.\nAttempted rule was ${command}`,
  make: async ({ table, chain, rule, family, kwargs }, context) => {
    const which: [Value, Value] = kwargs.has("position")
      ? ["position", kwargs.get("position") ?? null]
      : ["rule", rule];
    return !truthy(await context.call("iptables.delete", [table, chain], new Map([["family", family], which])));
  },
};

/** The file that `save` names; None if it only requests a save. */
function fileOf(save: Value): Value {
  return save === true ? null : save;
}

function save(file: Value, family: string, context: StateContext): Promise<Value> {
  return context.call("iptables.save", [], map({ filename: file, family }));
}

/** The rules of all chains, table by table. */
function rulesOf(tables: Value): Value[] {
  const chains = isMap(tables) ? [...tables.values()].flatMap((table) => isMap(table) ? [...table.values()] : []) : [];
  return chains.map((chain) => isMap(chain) ? chain.get("rules") ?? null : null);
}

/** Whether the rules in memory differ from those in the file. */
async function isUnsaved(file: Value, family: string, context: StateContext): Promise<boolean> {
  const saved = await context.call("iptables.get_saved_rules", [], map({ conf_file: file, family }));
  const current = await context.call("iptables.get_rules", [], map({ family }));
  return !equals(rulesOf(current), rulesOf(saved));
}

async function changeRule(
  change: Change,
  { name, table, family, kwargs }: { name: string; table: string; family: string; kwargs: ValueMap },
  context: StateContext,
): Promise<StateResult> {
  const own = ownArguments(kwargs);
  own.delete("__agg__");
  own.set("name", name).set("table", table);
  const chain = needArgument(own, "chain", `iptables.${change.fun}`);
  const build = (more: Record<string, Value>) =>
    context.call(
      "iptables.build_rule",
      [],
      new Map<Value, Value>([["family", family], ...Object.entries(more), ...own]),
    );
  const rule = await build({});
  const command = str(await build({ full: "True", command: change.letter })).trim();
  const whole: Rule = { name, family, table, chain, rule, command, kwargs: own };
  const wanted = own.get("save") ?? false;
  const isThere = await context.call("iptables.check", [table, chain, rule, family]) === true;

  if (change.fun === "delete" ? !isThere && !own.has("position") : isThere) {
    const comment = change.nothing(whole);
    if (change.fun === "delete" || !truthy(wanted)) return stateOutcome(name, true, comment);
    if (!await isUnsaved(fileOf(wanted), family, context)) return stateOutcome(name, true, comment);
    const out = str(await save(fileOf(wanted), family, context));
    return stateOutcome(name, true, `${comment}\nSaved iptables rule ${name} for ${family}\n${command}\n${out}`);
  }
  if (context.test) return stateOutcome(name, null, change.planned(whole));
  if (!await change.make(whole, context)) return stateOutcome(name, false, change.failed(whole));
  if (!truthy(wanted)) return changeResult(name, change.done(whole));
  const out = str(await save(fileOf(wanted), family, context));
  return changeResult(name, `${change.saved} iptables rule ${name} for ${family}\n${command}\n${out}`);
}

/** Several rules, aggregated by `state_aggregate`; they are saved once, at the end. */
async function changeRules(
  change: Change,
  { name, family, rules }: { readonly name: string; readonly family: string; readonly rules: readonly Value[] },
  context: StateContext,
): Promise<StateResult> {
  const whole = startResult(name, null);
  const comments: string[] = [];
  const changes: Value[] = [];
  let file: Value | undefined;
  for (const given of rules.filter(isMap)) {
    const rule: ValueMap = new Map(given);
    rule.delete("rules");
    if (truthy(rule.get("save"))) {
      file = fileOf(rule.get("save") ?? null);
      rule.set("save", false);
    }
    const field = (key: string, usual: string) => str(rule.get(key) ?? usual);
    const place = { name: field("name", ""), table: field("table", "filter"), family: field("family", "ipv4") };
    for (const key of Object.keys(place)) rule.delete(key);
    const one = await changeRule(change, { ...place, kwargs: rule }, context);
    changes.push(...one.changes.has("locale") ? [one.changes.get("locale") ?? null] : []);
    comments.push(str(one.comment));
    whole.result = one.result;
  }
  if (file !== undefined && !context.test) await save(file, family, context);
  if (changes.length > 0) whole.changes.set("locale", changes);
  return { ...whole, comment: comments.join("\n") };
}

/** A state function that makes one change of rules. */
function ruleState(change: Change, doc: string): ModuleFunction<StateContext> {
  return stateFn({
    doc:
      `${doc}\n\nname\n    A text, unique in the run; an option --name of iptables is the argument name_.\n\ntable\n    The table. ` +
      "Default: filter.\n\nfamily\n    ipv4 or ipv6. Default: ipv4.\n\nchain\n    The chain.\n\nsave\n    True saves the rules for the " +
      "next boot; a path saves them to that file.\n\nAll other arguments are options of iptables, as of `iptables.build_rule`.",
    params: PLACE,
    varKwargs: "kwargs",
    run({ name, table, family }, context, { kwargs }) {
      const rules = kwargs.get("rules");
      if (rules !== undefined) return changeRules(change, { name, family, rules: asList(rules) }, context);
      return changeRule(change, { name, table, family, kwargs }, context);
    },
  });
}

export const append: ModuleFunction<StateContext> = ruleState(
  APPEND,
  "Make sure that a chain has a rule: one that is missing comes at the end.",
);

export const insert: ModuleFunction<StateContext> = ruleState(
  INSERT,
  "Make sure that a chain has a rule: one that is missing comes at `position`, from the end if that is negative.",
);

export const delete_: ModuleFunction<StateContext> = ruleState(
  DELETE,
  "Make sure that a chain has no such rule, or delete the one at `position`.",
);

export const set_policy: ModuleFunction<StateContext> = stateFn({
  doc:
    "Set the policy of a chain.\n\nname\n    A text, unique in the run.\n\ntable\n    The table. Default: filter.\n\nfamily\n    ipv4 " +
    "or ipv6. Default: ipv4.\n\nchain\n    The chain.\n\npolicy\n    The policy: ACCEPT, DROP.\n\nsave\n    Whether, or into which " +
    "file, the rules are saved.",
  params: PLACE,
  varKwargs: "kwargs",
  keywords: ["chain", "policy", "save"],
  async run({ name, table, family }, context, { kwargs }) {
    const own = ownArguments(kwargs);
    const chain = needArgument(own, "chain", "iptables.set_policy");
    const policy = needArgument(own, "policy", "iptables.set_policy");
    const what = `iptables default policy for chain ${str(chain)} on table ${table} for ${family}`;
    if (equals(await context.call("iptables.get_policy", [table, chain, family]), policy)) {
      return stateOutcome(name, true, `${what} already set to ${str(policy)}`);
    }
    if (context.test) return stateOutcome(name, null, `${what} needs to be set to ${str(policy)}`);
    if (truthy(await context.call("iptables.set_policy", [table, chain, policy, family]))) {
      return stateOutcome(name, false, "Failed to set iptables default policy");
    }
    const wanted = own.get("save") ?? false;
    if (truthy(wanted)) await save(fileOf(wanted), family, context);
    const verb = truthy(wanted) ? "Set and saved" : "Set";
    return changeResult(name, `${verb} default policy for ${str(chain)} to ${str(policy)} family ${family}`);
  },
});

export const flush: ModuleFunction<StateContext> = stateFn({
  doc:
    "Delete all rules of a chain, or of a whole table.\n\nname\n    A text, unique in the run.\n\ntable\n    The table. Default: " +
    "filter.\n\nfamily\n    ipv4 or ipv6. Default: ipv4.\n\nchain\n    The chain. Default: all of the table.",
  params: PLACE,
  varKwargs: "kwargs",
  keywords: ["chain"],
  async run({ name, table, family }, context, { kwargs }) {
    const chain = kwargs.get("chain") ?? "";
    if (context.test) {
      // Salt's text, which has name, table and family instead of table, chain and family.
      return stateOutcome(
        name,
        null,
        `iptables rules in ${name} table ${table} chain ${family} family needs to be flushed`,
      );
    }
    if (truthy(await context.call("iptables.flush", [table, chain, family]))) {
      return stateOutcome(name, false, "Failed to flush iptables rules");
    }
    return changeResult(name, `Flush iptables rules in ${table} table ${str(chain)} chain ${family} family`);
  },
});

/** Functions whose chunks `state_aggregate` aggregates. */
const AGGREGATED: readonly Value[] = ["append", "insert"];

export const mod_aggregate: ModuleFunction<StateContext> = declare({
  doc: "Aggregates the rules of all pending states of one function into the state that runs first.",
  params: { low: p.dict(), chunks: p.list(), running: p.any() },
  run({ low, chunks, running }) {
    if (!AGGREGATED.includes(low.get("fun") ?? null)) return low;
    const tag = chunkTag(low);
    const rules: Value[] = [];
    for (const other of chunks) {
      if (!isMap(other) || other.get("state") !== "iptables" || other.get("fun") !== low.get("fun")) continue;
      const isOther = chunkTag(other) !== tag && !other.has("__agg__");
      if (!isOther || (isMap(running) && running.has(chunkTag(other)))) continue;
      rules.push(structuredClone(other));
      other.set("__agg__", true);
    }
    if (rules.length === 0) return low;
    // Its own rule comes first: Salt 3008.3 leaves that out, so that it is never set.
    const lowRules = low.get("rules");
    const own = Array.isArray(lowRules) ? lowRules : [structuredClone(low)];
    return low.set("rules", [...own, ...rules]);
  },
});
