/**
 * State module `test`: states that do nothing, to try requisites, templates and outputs, and a check of pillar keys.
 * Source: Salt 3008.3 `salt/states/test.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { type GivenResult, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { chunkTag } from "#lib/states/compiler/chunks.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isInt, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The changes of a state that only pretends to change something. */
function pretendedChanges(): ValueMap {
  return new Map([[
    "testing",
    new Map<Value, Value>([["old", "Unchanged"], ["new", "Something pretended to change"]]),
  ]]);
}

/** The argument `comment`, of any type, as Salt's states return it. */
function commentOf(kwargs: ValueMap, otherwise: string): Value {
  return kwargs.has("comment") ? kwargs.get("comment") ?? null : otherwise;
}

/** A state whose outcome is always the same; it takes any argument. */
function constant(
  doc: string,
  outcome: (context: StateContext, kwargs: ValueMap) => Omit<GivenResult, "name">,
): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${doc}\n\nname\n    A text, unique in the run.\n\ncomment\n    The comment of the result.`,
    params: { name: p.any() },
    varKwargs: "kwargs",
    run: ({ name }, context, { kwargs }) => ({ name, ...outcome(context, kwargs) }),
  });
}

export const nop: ModuleFunction<StateContext> = stateFn({
  doc:
    "Do nothing: for requisites, and for files that a template may leave empty.\n\nname\n    A text, unique in the run.",
  params: { name: p.any() },
  varKwargs: "kwargs",
  run: ({ name }) => ({ ...startResult(name), comment: "Success!" }),
});

export const succeed_without_changes: ModuleFunction<StateContext> = constant(
  "Succeed, and change nothing.",
  (_context, kwargs) => ({ changes: new Map(), result: true, comment: commentOf(kwargs, "Success!") }),
);

export const fail_without_changes: ModuleFunction<StateContext> = constant(
  "Fail, and change nothing.",
  ({ test }, kwargs) => ({
    changes: new Map(),
    result: false,
    comment: test ? "If we weren't testing, this would be a failure!" : commentOf(kwargs, "Failure!"),
  }),
);

export const succeed_with_changes: ModuleFunction<StateContext> = constant(
  "Succeed, and report changes.",
  ({ test }, kwargs) => ({
    changes: pretendedChanges(),
    result: test ? null : true,
    comment: test ? "If we weren't testing, this would be successful with changes" : commentOf(kwargs, "Success!"),
  }),
);

export const fail_with_changes: ModuleFunction<StateContext> = constant(
  "Fail, and report changes.",
  ({ test }, kwargs) => ({
    changes: pretendedChanges(),
    result: test ? null : false,
    comment: test ? "If we weren't testing, this would be failed with changes" : commentOf(kwargs, "Failure!"),
  }),
);

/** @throws {InvocationError} If it is neither a bool nor the word `random`. */
function boolOrChance(value: Value, refusal: string): boolean {
  if (typeof value === "boolean") return value;
  if (str(value).toLowerCase() === "random") return crypto.getRandomValues(new Uint8Array(1))[0] < 128;
  throw new InvocationError(refusal);
}

export const configurable_test_state: ModuleFunction<StateContext> = stateFn({
  doc: `Return the result that the arguments describe.

name
    A text, unique in the run.

changes : True
    Whether the state reports changes: True, False or \`Random\`.

result : True
    The result: True, False or \`Random\`. In test mode it is None if there are changes, else True.

comment
    The comment of the result.

warnings
    A warning, or a list of them.

allow_test_mode_failure : False
    Whether \`result: False\` is False in test mode too.`,
  params: {
    name: p.any(),
    changes: p.any(true),
    result: p.any(true),
    comment: p.any(""),
    warnings: p.any(null),
    allow_test_mode_failure: p.bool(false),
  },
  run: ({ name, changes, result, comment, warnings, allow_test_mode_failure }, { test }) => {
    const changed = boolOrChance(
      changes,
      "You have specified the state option 'changes' with invalid arguments. It must be either True, False, or 'Random'",
    );
    const outcome = boolOrChance(
      result,
      "You have specified the state option 'result' with invalid arguments. It must be either True, False, or 'Random'",
    );
    const ret: GivenResult = {
      name,
      changes: changed ? pretendedChanges() : new Map(),
      result: outcome,
      comment,
    };
    if (typeof warnings === "string") ret.warnings = [warnings];
    else if (Array.isArray(warnings)) ret.warnings = warnings.map(str);
    else if (warnings !== null) {
      throw new InvocationError(
        "You have specified the state option 'warnings' with invalid arguments. It must be a string or a list of strings",
      );
    }
    if (!test) return ret;
    // Salt checks the argument here, and "Random" is not False.
    ret.result = allow_test_mode_failure && result === false ? false : changes === false ? true : null;
    if (!truthy(comment)) ret.comment = "This is a test";
    return ret;
  },
});

export const show_notification: ModuleFunction<StateContext> = stateFn({
  doc: "Show a text as the comment of the result.\n\nname\n    A text, unique in the run.\n\ntext\n    The comment.",
  params: { name: p.any(), text: p.any(null) },
  varKwargs: "kwargs",
  run: ({ name, text: shown }) => {
    if (!truthy(shown)) throw new InvocationError("Missing required argument text.");
    return { ...startResult(name), comment: shown };
  },
});

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: "Called when a watched state has changes: reports which ones.",
  params: { name: p.any(), sfun: p.str(null) },
  varKwargs: "kwargs",
  run: ({ name }, { low, running }, { kwargs }) => {
    const requisites = low.get("__reqs__");
    const watched = isMap(requisites) ? requisites.get("watch") : undefined;
    const changed = listOrEmpty(watched).filter(isMap)
      .filter((chunk) => truthy(running.get(chunkTag(chunk))?.get("changes")))
      .map((chunk) => `${str(chunk.get("state") ?? null)}: ${str(chunk.get("__id__") ?? null)}`);
    const result = kwargs.get("result") ?? true;
    const changes = kwargs.get("changes");
    return {
      name,
      result: result === null ? null : truthy(result),
      comment: commentOf(kwargs, "Watch statement fired."),
      changes: isMap(changes) ? changes : new Map<Value, Value>([["Requisites with changes", changed]]),
    };
  },
});

/** A checked kind of pillar value: its Python name, and the check. */
interface Kind {
  readonly printed: string;
  has(value: Value): boolean;
}

const KINDS = {
  boolean: { printed: "<class 'bool'>", has: (value) => typeof value === "boolean" },
  // Python's bool is an int.
  integer: { printed: "<class 'int'>", has: (value) => isInt(value) || typeof value === "boolean" },
  string: { printed: "(<class 'str'>,)", has: (value) => typeof value === "string" },
  listing: { printed: "<class 'list'>", has: Array.isArray },
  dictionary: { printed: "<class 'dict'>", has: isMap },
} as const satisfies Record<string, Kind>;

function keysOf(given: Value): string[] {
  if (!truthy(given)) return [];
  if (typeof given === "string") return [given];
  if (Array.isArray(given)) return given.map(str);
  throw new InvocationError("A key of pillar, or a list of keys, is wanted");
}

export const check_pillar: ModuleFunction<StateContext> = stateFn({
  doc: `Check that pillar has keys, and of which type their values are. Each argument is a key or a list of keys.

name
    A text, unique in the run.

present
    Keys whose values may have any type.

boolean, integer, string, listing, dictionary
    Keys whose values have that type.

verbose : False
    Whether the comment lists the keys that passed.`,
  params: {
    name: p.any(),
    present: p.any(null),
    boolean: p.any(null),
    integer: p.any(null),
    string: p.any(null),
    listing: p.any(null),
    dictionary: p.any(null),
    verbose: p.bool(false),
  },
  run: async ({ name, present, verbose, ...typed }, context) => {
    if (![present, ...Object.values(typed)].some(truthy)) throw new InvocationError("Missing required argument text.");
    const failed = new Map<string, string>();
    const passed = new Map<string, string>();
    const check = async (key: string, kind: Kind | undefined): Promise<void> => {
      const value = await context.call("pillar.get", [key, null]);
      if (value === null) failed.set(key, "is missing");
      else if (kind !== undefined && !kind.has(value)) failed.set(key, `is not ${kind.printed}`);
      else passed.set(key, kind?.printed ?? "None");
    };
    for (const key of keysOf(present)) await check(key, undefined);
    for (const [argument, kind] of Object.entries(KINDS)) {
      for (const key of keysOf(typed[argument as keyof typeof KINDS])) await check(key, kind);
    }
    const lines = [...failed].map(([key, why]) => `Pillar key "${key}" ${why}.\n`);
    if (verbose && passed.size > 0) {
      lines.push("Those keys passed the check:\n", ...[...passed].map(([key, kind]) => `- ${key} (${kind})\n`));
    }
    return { name, changes: new Map(), result: failed.size === 0, comment: lines.join("") };
  },
});
