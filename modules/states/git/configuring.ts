/**
 * Part of the state module `git`: values of git's configuration.
 * Source: Salt 3008.3 `salt/states/git.py` config_set, config_unset.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { ENCODING, gitReasonOf, WHO } from "./repository.ts";
import { orRefused, Refused } from "#modules/states/_refused.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, map, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A configuration of git: a repository's, or the user's. */
class Configuration {
  readonly #where: Readonly<Record<string, Value>>;

  /** @throws {Refused} If no repository is named. */
  constructor(
    { repo, user, password, output_encoding, global }: {
      readonly repo: Value;
      readonly user: Value;
      readonly password: Value;
      readonly output_encoding: Value;
      readonly global: boolean;
    },
    readonly context: StateContext,
  ) {
    if (!global && !truthy(repo)) {
      throw new Refused("Non-global config options require the 'repo' argument to be set");
    }
    this.#where = { cwd: repo, user, password, output_encoding, global };
  }

  call(fun: string, kwargs: Readonly<Record<string, unknown>>): Promise<Value> {
    return this.context.call(`git.${fun}`, [], map({ ...this.#where, ...kwargs }));
  }

  /** The keys that match, with their values. */
  async matches(key: string, value_regex: Value): Promise<ReadonlyMap<string, readonly string[]>> {
    const settings = await this.call("config_get_regexp", { key, value_regex, ignore_retcode: true });
    return new Map(
      [...isMap(settings) ? settings : []].map((
        [name, values],
      ) => [str(name), listOrEmpty(values).map(str)]),
    );
  }
}

/** Keys and values in a comment. */
function listMatches(matches: Iterable<readonly [string, readonly string[]]>): string {
  return [...matches].map(([key, values]) => `${key} (${values.join(", ")})`).join("; ");
}

function asChanges(matches: ReadonlyMap<string, readonly string[]>): ValueMap {
  return new Map([...matches].map(([key, values]) => [key, [...values]]));
}

const WHERE = { repo: p.any(null), ...WHO, ...ENCODING, global: p.bool(false) };

const WHERE_DOC = `

repo
    The repository whose configuration it is.

user, password
    The user who runs git. The password is for Windows.

output_encoding
    The encoding of git's output. Default: UTF-8.

global : False
    Whether it is the user's global configuration.`;

const CONFIG_UNSET = { name: p.any(), value_regex: p.any(null), ...WHERE, all: p.bool(false) };

export const config_unset: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that options of git are not set.

name
    The name, or a regular expression for whole names.

value_regex
    A regular expression for the values to remove. Default: all.

all : False
    Whether several values of an option are removed.${WHERE_DOC}`,
  params: CONFIG_UNSET,
  run: (given, context) => orRefused(startResult(given.name), () => unset(given, context)),
});

async function unset(given: Bound<typeof CONFIG_UNSET>, context: StateContext): Promise<StateResult> {
  const { all } = given;
  const configuration = new Configuration(given, context);
  const name = str(given.name);
  const value_regex = given.value_regex === null ? null : str(given.value_regex);
  const key = `^${rstripChars(name.replace(/^\^+/, ""), "$")}$`;
  const matching = await configuration.matches(key, value_regex);
  const start = startResult(given.name);
  if (matching.size === 0) return { ...start, comment: "No matching keys are set" };
  const several = [...matching].filter(([, values]) => values.length > 1);
  if (!all && several.length > 0) {
    throw new Refused(
      value_regex === null
        ? `Multivar(s) matched by the key expression (set 'all' to True to force removal): ${listMatches(several)}`
        : `Multiple values are matched by value_regex for the following keys (set 'all' to True to force removal): ${
          listMatches(several)
        }`,
    );
  }
  if (context.test) {
    return {
      ...start,
      result: null,
      changes: asChanges(matching),
      comment: `${matching.size} key(s) would have value(s) unset`,
    };
  }
  const before = value_regex === null ? matching : await configuration.matches(key, null);
  const failed: string[] = [];
  for (const key of matching.keys()) {
    try {
      // Salt hands over the expression, which unsets nothing where it is not a name.
      await configuration.call("config_unset", { key, value_regex, all });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      context.log("error", `Failed to unset '${key}': ${gitReasonOf(error)}`);
      failed.push(key);
    }
  }
  if (failed.length > 0) {
    throw new Refused(
      `Error(s) occurred unsetting values for the following keys (see the minion log for details): ${
        failed.join(", ")
      }`,
    );
  }
  const after = await configuration.matches(key, null);
  const changes: ValueMap = new Map();
  for (const [option, values] of before) {
    const gone = values.filter((value) => !(after.get(option) ?? []).includes(value));
    if (gone.length > 0) changes.set(option, gone);
  }
  const left = value_regex === null ? after : await configuration.matches(key, value_regex);
  if (left.size > 0) throw new Refused(`Failed to unset value(s): ${listMatches(left)}`, { changes });
  return { ...start, changes, comment: "Value(s) successfully unset" };
}

const CONFIG_SET = { name: p.any(), value: p.any(null), multivar: p.any(null), ...WHERE };

export const config_set: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that an option of git has a value, or several.

name
    The option: user.email.

value
    The value.

multivar
    Several values: a list, or a text with commas.${WHERE_DOC}`,
  params: CONFIG_SET,
  run: (given, context) => orRefused(startResult(given.name), () => set(given, context)),
});

async function set(given: Bound<typeof CONFIG_SET>, context: StateContext): Promise<StateResult> {
  const { global } = given;
  if (given.value !== null && given.multivar !== null) {
    throw new Refused("Only one of 'value' and 'multivar' is permitted");
  }
  const configuration = new Configuration(given, context);
  const name = str(given.name);
  const value = given.value === null ? null : str(given.value);
  const multivar = given.multivar === null
    ? null
    : Array.isArray(given.multivar)
    ? given.multivar.map(str)
    : str(given.multivar).split(",");
  const desired = multivar ?? (value === null ? undefined : [value]);
  if (desired === undefined) throw new Refused("One of 'value' and 'multivar' is required");
  const valueText = multivar === null ? `'${value}'` : repr(multivar);
  const label = (word: string) => `${global ? word : ""}'${name}'`;
  const before = await configuration.call("config_get", { key: name, ignore_retcode: true, all: true });
  const start = startResult(given.name);
  if (equals(before, desired)) return { ...start, comment: `${label("Global key ")} is already set to ${valueText}` };
  const how = `${before === null ? "added as" : "set to"} ${valueText}`;
  if (context.test) {
    const changes = new Map<Value, Value>([["old", before], ["new", desired]]);
    return { ...start, result: null, changes, comment: `${label("Global key ")} would be ${how}` };
  }
  let after: Value;
  try {
    after = await configuration.call("config_set", { key: name, value, multivar });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new Refused(`Failed to set ${label("global key ")} to ${valueText}: ${gitReasonOf(error)}`);
  }
  const changes: ValueMap = new Map();
  if (!equals(before, after)) changes.set(name, new Map<Value, Value>([["old", before], ["new", after]]));
  if (!equals(after, desired)) throw new Refused(`Failed to set ${label("global key ")} to ${valueText}`, { changes });
  return { ...start, changes, comment: `${label("Global key ")} was ${how}` };
}
