/**
 * State module `ipset`: sets of addresses, and their entries.
 * Source: Salt 3008.3 `salt/states/ipset.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { asList } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["ipset"], otherwise: "ipset module could not be loaded" }],
};

const FAMILY_DOC = "family : ipv4\n    ipv4 or ipv6.";

/**
 * The result of a change of a whole set.
 * @param said True, or the output of ipset.
 */
function setResult(name: string, answer: Value, done: string, failure: string): StateResult {
  if (answer === true) return { ...startResult(name), comment: done, changes: map({ locale: name }) };
  return failState(name, `${failure}${str(answer).trim()}`);
}

export const set_present: ModuleFunction<StateContext> = stateFn({
  doc: `A set exists. Other arguments are those of ipset.new_set.

set_type
    \`hash:ip\`, \`hash:net\`, ….

${FAMILY_DOC}`,
  params: { name: p.str(), set_type: p.str(), family: p.str("ipv4") },
  varKwargs: "kwargs",
  run: async ({ name, set_type, family }, context, { kwargs }) => {
    if (await context.call("ipset.check_set", [name]) === true) {
      return { ...startResult(name), comment: `ipset set ${name} already exists for ${family}` };
    }
    if (context.test) {
      return { ...startResult(name, null), comment: `ipset set ${name} would be added for ${family}` };
    }
    const answer = await context.call("ipset.new_set", [name, set_type, family], kwargs);
    const done = `ipset set ${name} created successfully for ${family}`;
    return setResult(name, answer, done, `Failed to create set ${name} for ${family}: `);
  },
});

export const set_absent: ModuleFunction<StateContext> = stateFn({
  doc: `A set does not exist. Its entries are removed first.\n\n${FAMILY_DOC}`,
  params: { name: p.str(), family: p.str("ipv4") },
  varKwargs: "kwargs",
  run: async ({ name, family }, context) => {
    if (!truthy(await context.call("ipset.check_set", [name, family]))) {
      return { ...startResult(name), comment: `ipset set ${name} for ${family} is already absent` };
    }
    if (context.test) {
      return { ...startResult(name, null), comment: `ipset set ${name} for ${family} would be removed` };
    }
    if (!truthy(await context.call("ipset.flush", [name, family]))) {
      return failState(name, `Failed to flush set ${name} for ${family}`);
    }
    const answer = await context.call("ipset.delete_set", [name, family]);
    const done = `ipset set ${name} deleted successfully for family ${family}`;
    return setResult(name, answer, done, `Failed to delete set ${name} for ${family}: `);
  },
});

/** An entry of a state, without and with its options. */
interface Entry {
  readonly plain: string;
  readonly whole: string;
}

/** An entry, completed with the options of the state. */
function entryOf(given: Value, kwargs: ValueMap): Entry {
  const all = str(given);
  const end = all.indexOf(" ");
  const plain = end < 0 ? all : all.slice(0, end);
  let options = end < 0 ? "" : all.slice(end + 1);
  if (kwargs.has("timeout") && !options.includes("timeout")) {
    options = `timeout ${str(kwargs.get("timeout") ?? "")} ${options}`;
  }
  if (kwargs.has("comment") && !options.includes("comment")) {
    options = `${options} comment ${str(kwargs.get("comment") ?? "")}`;
  }
  return { plain, whole: `${plain} ${options.trimStart()}`.trim() };
}

const ENTRY_DOC = `entry
    An entry, or a list of them. The options of an entry follow it after a space.

set_name
    The set.

timeout, comment
    Options of all entries that do not have their own.

${FAMILY_DOC}`;

/** The action for each entry of a state that is, or is not, in the set. */
async function eachEntry(
  { name, entry, family }: { readonly name: string; readonly entry: Value; readonly family: string },
  { kwargs, context }: { readonly kwargs: ValueMap; readonly context: StateContext },
  act: (one: Entry, isThere: boolean, ret: StateResult, set: string) => Promise<string>,
): Promise<StateResult> {
  if (!truthy(entry)) return failState(name, "ipset entry must be specified");
  const set = kwargs.get("set_name") ?? null;
  if (typeof set !== "string" || set === "") return failState(name, "set_name must be specified");
  const ret = startResult(name);
  let comment = "";
  for (const given of asList(entry)) {
    const one = entryOf(given, kwargs);
    const isThere = await context.call("ipset.check", [set, one.whole, family]) === true;
    const answer = await act(one, isThere, ret, set);
    // On a failure, Salt reports nothing of the entries before it.
    comment = ret.result === false && answer.startsWith("Failed") ? answer : comment + answer;
  }
  return { ...ret, comment };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A set has entries.\n\n${ENTRY_DOC}`,
  params: { name: p.str(), entry: p.any(null), family: p.str("ipv4") },
  varKwargs: "kwargs",
  run: ({ name, entry, family }, context, { kwargs }) =>
    eachEntry({ name, entry, family }, { kwargs, context }, async ({ plain, whole }, isThere, ret, set) => {
      if (isThere) return `entry for ${plain} already in set ${set} for ${family}\n`;
      if (context.test) {
        ret.result = null;
        return `entry ${plain} would be added to set ${set} for family ${family}\n`;
      }
      const answer = str(await context.call("ipset.add", [set, whole, family], kwargs));
      if (answer.includes("Error")) {
        ret.result = false;
        return `Failed to add to entry ${whole} to set ${set} for family ${family}.\n${answer}`;
      }
      ret.changes = map({ locale: name });
      return `entry ${whole} added to set ${set} for family ${family}\n`;
    }),
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A set does not have entries.\n\n${ENTRY_DOC}`,
  params: { name: p.str(), entry: p.any(null), entries: p.any(null), family: p.str("ipv4") },
  varKwargs: "kwargs",
  run: ({ name, entry, family }, context, { kwargs }) =>
    eachEntry({ name, entry, family }, { kwargs, context }, async ({ plain, whole }, isThere, ret, set) => {
      if (!isThere) return `ipset entry for ${whole} not present in set ${set} for ${family}\n`;
      if (context.test) {
        ret.result = null;
        return `ipset entry ${plain} would be removed from set ${set} for ${family}\n`;
      }
      const answer = str(await context.call("ipset.delete", [set, plain, family], kwargs));
      if (answer.includes("Error")) {
        ret.result = false;
        return `Failed to delete ipset entry from set ${set} for ${family}. Attempted entry was ${whole}.\n${answer}\n`;
      }
      ret.changes = map({ locale: name });
      return `ipset entry ${whole} removed from set ${set} for ${family}\n`;
    }),
});

export const flush: ModuleFunction<StateContext> = stateFn({
  doc: `A set has no entries.\n\n${FAMILY_DOC}`,
  params: { name: p.str(), family: p.str("ipv4") },
  varKwargs: "kwargs",
  run: async ({ name, family }, context) => {
    if (await context.call("ipset.check_set", [name]) === false) {
      return failState(name, `ipset set ${name} does not exist for ${family}`);
    }
    if (context.test) {
      return { ...startResult(name, null), comment: `ipset entries in set ${name} for ${family} would be flushed` };
    }
    if (!truthy(await context.call("ipset.flush", [name, family]))) {
      return failState(name, `Failed to flush ipset entries from set ${name} for ${family}`);
    }
    const comment = `Flushed ipset entries from set ${name} for ${family}`;
    return { ...startResult(name), comment, changes: map({ locale: name }) };
  },
});
