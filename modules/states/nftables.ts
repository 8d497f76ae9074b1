/**
 * State module `nftables`: tables, chains, rules and policies of nftables.
 * Source: Salt 3008.3 `salt/states/nftables.py`.
 * @module
 */

import { changeResult, needArgument, ownArguments, stateOutcome } from "./_firewall.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["nftables.version"], otherwise: "nftables module could not be loaded" }],
};

/** The result of a function of `nftables`: `result`, `comment`, and what else it has. */
interface Answer {
  readonly result: Value;
  readonly comment: string;
  readonly rule: Value;
  readonly all: Value;
}

async function ask(context: StateContext, fun: string, args: Value[], kwargs: ValueMap = new Map()): Promise<Answer> {
  const all = await context.call(`nftables.${fun}`, args, kwargs);
  const field = (key: string): Value => isMap(all) ? all.get(key) ?? null : null;
  return { result: field("result"), comment: str(field("comment") ?? ""), rule: field("rule"), all };
}

const FAMILY = "\n\nfamily\n    ipv4, ipv6, inet, …. Default: ipv4.";

export const chain_present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a chain exists.\n\nname\n    The chain.\n\ntable\n    The table. Default: filter.\n\ntable_type, hook, priority\n" +
    `    The type, hook and priority of a base chain: all of them, or none.${FAMILY}`,
  params: {
    name: p.str(),
    table: p.str("filter"),
    table_type: p.any(null),
    hook: p.any(null),
    priority: p.any(null),
    family: p.str("ipv4"),
  },
  async run({ name, table, table_type, hook, priority, family }, context) {
    if ((await ask(context, "check_chain", [table, name], map({ family }))).result === true) {
      return stateOutcome(name, true, `nftables ${name} chain is already exist in ${table} table for ${family}`);
    }
    if (context.test) {
      return stateOutcome(name, null, `nftables chain ${name} would be created in table ${table} for family ${family}`);
    }
    const outcome = await ask(context, "new_chain", [table, name], map({ table_type, hook, priority, family }));
    if (outcome.result === true) {
      return changeResult(name, `nftables ${name} chain in ${table} table create success for ${family}`);
    }
    return stateOutcome(
      name,
      false,
      `Failed to create ${name} chain in ${table} table: ${outcome.comment.trim()} for ${family}`,
    );
  },
});

export const chain_absent: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a chain does not exist; its rules are removed first.\n\nname\n    The chain.\n\ntable\n    The table. Default: filter.${FAMILY}`,
  params: { name: p.str(), table: p.str("filter"), family: p.str("ipv4") },
  async run({ name, table, family }, context) {
    if ((await ask(context, "check_chain", [table, name, family])).result !== true) {
      return stateOutcome(name, true, `nftables ${name} chain is already absent in ${table} table for ${family}`);
    }
    if (context.test) {
      return stateOutcome(
        name,
        null,
        `nftables chain ${name} would be deleted from table ${table} for family ${family}`,
      );
    }
    const failedResult = (what: string, { comment }: Answer) =>
      stateOutcome(name, false, `Failed to ${what} ${name} chain in ${table} table: ${comment.trim()} for ${family}`);
    const flushed = await ask(context, "flush", [table, name, family]);
    if (flushed.result !== true) return failedResult("flush", flushed);
    const deleted = await ask(context, "delete_chain", [table, name, family]);
    if (deleted.result !== true) return failedResult("delete", deleted);
    return changeResult(name, `nftables ${name} chain in ${table} table delete success for ${family}`);
  },
});

/** One rule, for texts. */
interface Rule {
  readonly name: string;
  readonly family: string;
  readonly command: string;
  /** The error of the change. */
  readonly why: string;
}

/** A change of a rule, with Salt's words for it. */
interface Change {
  readonly fun: "append" | "insert" | "delete";
  readonly nothing: (rule: Rule) => string;
  readonly planned: (rule: Rule) => string;
  readonly done: (rule: Rule) => string;
  readonly saved: (rule: Rule) => string;
  readonly failed: (rule: Rule) => string;
}

const APPEND: Change = {
  fun: "append",
  nothing: ({ name, command, family }) => `nftables rule for ${name} already set (${command}) for ${family}`,
  planned: ({ name, command, family }) => `nftables rule for ${name} needs to be set (${command}) for ${family}`,
  done: ({ name, command, family }) => `Set nftables rule for ${name} to: ${command} for ${family}`,
  saved: ({ name, command, family }) => `Set and Saved nftables rule for ${name} to: ${command} for ${family}`,
  failed: ({ name, command, family, why }) =>
    `Failed to set nftables rule for ${name}.\nAttempted rule was ${command} for ${family}.\n${why}`,
};

const INSERT: Change = {
  ...APPEND,
  fun: "insert",
  nothing: ({ name, command, family }) => `nftables rule for ${name} already set for ${family} (${command})`,
  planned: ({ name, command, family }) => `nftables rule for ${name} needs to be set for ${family} (${command})`,
  failed: ({ name, command }) => `Failed to set nftables rule for ${name}.\nAttempted rule was ${command}`,
};

const DELETE: Change = {
  fun: "delete",
  nothing: ({ name, command, family }) => `nftables rule for ${name} already absent for ${family} (${command})`,
  planned: ({ name, command, family }) => `nftables rule for ${name} needs to be deleted for ${family} (${command})`,
  done: ({ name, command }) => `Delete nftables rule for ${name} ${command}`,
  saved: ({ name, command, family }) => `Deleted and Saved nftables rule for ${name} for ${command}${family}`,
  failed: ({ name, command }) => `Failed to delete nftables rule for ${name}.\nAttempted rule was ${command}`,
};

async function changeRule(
  change: Change,
  { name, family, kwargs }: { readonly name: string; readonly family: string; readonly kwargs: ValueMap },
  context: StateContext,
): Promise<StateResult> {
  const own = ownArguments(kwargs);
  const built = await ask(context, "build_rule", [], new Map<Value, Value>([["family", family], ...own]));
  if (!truthy(built.result)) return stateOutcome(name, false, built.comment);
  const place = [
    needArgument(own, "table", `nftables.${change.fun}`),
    needArgument(own, "chain", `nftables.${change.fun}`),
  ];
  const rule: Rule = { name, family, command: str(built.rule).trim(), why: "" };
  const isThere = truthy((await ask(context, "check", [...place, built.rule, family])).result);
  if (isThere !== (change.fun === "delete")) return stateOutcome(name, true, change.nothing(rule));
  if (context.test) return stateOutcome(name, null, change.planned(rule));
  const outcome = await makeChange(change, { place, rule: built.rule, family, own }, context);
  if (!truthy(outcome.result)) return stateOutcome(name, false, change.failed({ ...rule, why: outcome.comment }));
  if (!truthy(own.get("save"))) return changeResult(name, change.done(rule));
  await context.call("nftables.save", [], map({ filename: null, family }));
  return changeResult(name, change.saved(rule));
}

function makeChange(
  { fun }: Change,
  { place, rule, family, own }: { place: Value[]; rule: Value; family: string; own: ValueMap },
  context: StateContext,
): Promise<Answer> {
  const position = own.get("position");
  if (fun === "append") return ask(context, "append", [...place, rule, family]);
  if (fun === "insert") {
    return ask(context, "insert", [...place, needArgument(own, "position", "nftables.insert"), rule, family]);
  }
  return ask(context, "delete", place, map({ family, ...position === undefined ? { rule } : { position } }));
}

/** A state function that makes one change of rules. */
function ruleState(change: Change, doc: string): ModuleFunction<StateContext> {
  return stateFn({
    doc:
      `${doc}\n\nname\n    A text, unique in the run.${FAMILY}\n\ntable, chain\n    Where the rule is.\n\nsave\n    Whether the rules ` +
      "are saved for the next boot.\n\nAll other arguments are parts of the rule, as in `nftables.build_rule`.",
    params: { name: p.str(), family: p.str("ipv4") },
    varKwargs: "kwargs",
    run: ({ name, family }, context, { kwargs }) => changeRule(change, { name, family, kwargs }, context),
  });
}

export const append: ModuleFunction<StateContext> = ruleState(
  APPEND,
  "Make sure that a chain has a rule: one that is missing comes at the end.",
);

export const insert: ModuleFunction<StateContext> = ruleState(
  INSERT,
  "Make sure that a chain has a rule: one that is missing comes at `position`.",
);

export const delete_: ModuleFunction<StateContext> = ruleState(DELETE, "Make sure that a chain has no such rule.");

export const flush: ModuleFunction<StateContext> = stateFn({
  doc:
    `Delete all rules of a chain, or of a whole table.\n\nname\n    A text, unique in the run.${FAMILY}\n\nignore_absence\n    Whether a ` +
    "missing table or chain counts as an empty one.\n\ntable\n    The table. Default: filter.\n\nchain\n    The chain. " +
    "Default: all of the table.",
  params: { name: p.str(), family: p.str("ipv4"), ignore_absence: p.bool(false) },
  varKwargs: "kwargs",
  keywords: ["table", "chain"],
  async run({ name, family, ignore_absence }, context, { kwargs }) {
    if (context.test) return stateOutcome(name, null, "nftables flush not performed in test mode.");
    const own = ownArguments(kwargs);
    const table = own.get("table") ?? "filter";
    const chain = own.get("chain") ?? "";
    const tableThere = truthy((await ask(context, "check_table", [table], map({ family }))).result);
    if (!ignore_absence && !tableThere) {
      return stateOutcome(
        name,
        false,
        `Failed to flush table ${str(table)} in family ${family}, table does not exist.`,
      );
    }
    const chainThere = !own.has("chain") ||
      truthy((await ask(context, "check_chain", [table, chain], map({ family }))).result);
    if (!ignore_absence && !chainThere) {
      const where = `chain ${str(chain)} in table ${str(table)} in family ${family}`;
      return stateOutcome(name, false, `Failed to flush ${where}, chain does not exist.`);
    }
    const { result } = await ask(context, "flush", [table, chain, family]);
    if (!truthy(result) && !(ignore_absence && (!tableThere || !chainThere))) {
      return stateOutcome(name, false, "Failed to flush nftables rules");
    }
    return changeResult(name, `Flush nftables rules in ${str(table)} table ${str(chain)} chain ${family} family`);
  },
});

export const set_policy: ModuleFunction<StateContext> = stateFn({
  doc:
    `Set the policy of a chain.\n\nname\n    A text, unique in the run.\n\ntable\n    The table. Default: filter.${FAMILY}\n\nchain\n` +
    "    The chain.\n\npolicy\n    accept or drop.\n\nsave, save_filename\n    Whether, and into which file, the rules are saved.",
  params: { name: p.str(), table: p.str("filter"), family: p.str("ipv4") },
  varKwargs: "kwargs",
  keywords: ["chain", "policy", "save", "save_filename"],
  async run({ name, table, family }, context, { kwargs }) {
    const own = ownArguments(kwargs);
    const chain = needArgument(own, "chain", "nftables.set_policy");
    const policy = str(needArgument(own, "policy", "nftables.set_policy"));
    const current = str(await context.call("nftables.get_policy", [table, chain, family]) ?? "");
    const what = `nftables default policy for chain ${str(chain)} on table ${table} for ${family}`;
    if (current.toLowerCase() === policy.toLowerCase()) {
      return stateOutcome(name, true, `${what} already set to ${policy}`);
    }
    if (context.test) return stateOutcome(name, null, `${what} needs to be set to ${policy}`);
    if (!truthy(await context.call("nftables.set_policy", [table, chain, policy.toLowerCase(), family]))) {
      return stateOutcome(name, false, "Failed to set nftables default policy");
    }
    const saves = truthy(own.get("save"));
    if (saves) await context.call("nftables.save", [], map({ filename: own.get("save_filename") ?? null, family }));
    return changeResult(
      name,
      `${saves ? "Set and saved" : "Set"} default policy for ${str(chain)} to ${policy} family ${family}`,
    );
  },
});

const TABLE = { name: p.str(), family: p.str("ipv4") };

export const table_present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a table exists.\n\nname\n    The table.${FAMILY}`,
  params: TABLE,
  varKwargs: "kwargs",
  keywords: [],
  async run({ name, family }, context) {
    if ((await ask(context, "check_table", [name], map({ family }))).result === true) {
      return stateOutcome(name, true, `nftables table ${name} already exists in family ${family}`);
    }
    if (context.test) return stateOutcome(name, null, `nftables table ${name} would be created in family ${family}`);
    if ((await ask(context, "new_table", [name], map({ family }))).result !== true) {
      return stateOutcome(name, false, `Failed to create table ${name} for family ${family}`);
    }
    return changeResult(name, `nftables table ${name} successfully created in family ${family}`);
  },
});

export const table_absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a table does not exist.\n\nname\n    The table.${FAMILY}`,
  params: TABLE,
  varKwargs: "kwargs",
  keywords: [],
  async run({ name, family }, context) {
    if ((await ask(context, "check_table", [name, family])).result === false) {
      return stateOutcome(name, true, `nftables table ${name} is already absent from family ${family}`);
    }
    if (context.test) return stateOutcome(name, null, `nftables table ${name} would be deleted from family ${family}`);
    if ((await ask(context, "delete_table", [name], map({ family }))).result !== true) {
      return stateOutcome(name, false, `Failed to delete table ${name} from family ${family}`);
    }
    return changeResult(name, `nftables table ${name} successfully deleted from family ${family}`);
  },
});
