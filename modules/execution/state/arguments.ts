/**
 * Shared parts of the module `state`: arguments, and the refusal while another function runs. Source: Salt 3008.3
 * `salt/modules/state.py`.
 * @module
 */

import { conflictOf } from "#lib/states/tree/conflicts.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { COMPILE_KEYWORDS } from "#lib/states/run/call_keywords.ts";
import { RETCODE } from "#lib/states/tree/retcode.ts";
import { InvocationError } from "#lib/errors.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The documentation of arguments that all functions have. */
export const ARGUMENTS = `
saltenv
    The environment of files and states. Default: the option of that name, else \`base\` for named files and every one for the
    top file.

pillar
    Pillar data that win over the others, as a dictionary; with \`pillar_enc\` encrypted by the renderer of that name.

pillarenv
    The one environment of pillar.

queue : False
    Wait until other state functions of this minion have ended, instead of refusing.`;

/** The documentation of arguments of functions that run states. */
export const RUN_ARGUMENTS = `
test
    Only say what would be changed. Default: the option of that name.

exclude
    States that are left out: SLS names with globs, with commas or as a list, or a list of maps with \`sls\` or \`id\`.
${ARGUMENTS}

concurrent : False
    Run beside other state functions. States that change the same things then get in each other's way.

mock : False
    Call no state, and show that the requisites can be met.

state_events
    Tell the master of every state that has run. Default: the option of that name.

terse : False
    Return only what failed or changed something.

cache, cache_name
    Run the high data of the last run again, which lie under that name (\`highstate\`); no SLS file is fetched.

localconfig
    A file with options that replace the minion's for this call.

force : False
    Run even if the pillar could not be compiled.`;

/** All permissions, because templates and states may do anything. */
export const COMMON = { permissions: "all", varKwargs: "kwargs", keywords: COMPILE_KEYWORDS } as const;

/** Keywords that are True or False. */
const SWITCHES = ["concurrent", "force", "mock", "terse", "test", "Test", "TEST"];

/** The words that a client may send as texts. */
const WORDS: ReadonlyMap<string, boolean> = new Map([["true", true], ["false", false]]);

/**
 * The value of a switch; texts are their words.
 * @throws {InvocationError} For another text.
 */
function switchOf(name: string, value: Value): Value {
  if (typeof value !== "string") return value;
  const word = WORDS.get(value.trim().toLowerCase());
  if (word === undefined) throw new InvocationError(`${name} must be True or False, not '${value}'`);
  return word;
}

/**
 * The argument `test`.
 * @param ofSls Whether SLS names come before it.
 * @throws {InvocationError} For another text than True and False, which may be an SLS name in its place.
 */
export function testWord(test: Value, { ofSls }: { readonly ofSls: boolean }): Value {
  try {
    return switchOf("test", test);
  } catch (thrown) {
    if (!(thrown instanceof InvocationError) || test === "") throw thrown;
    const text = str(test);
    if (/^test\b/i.test(text)) throw new InvocationError(`${thrown.message}. It is written test=True`);
    if (!ofSls || nearestName(text.toLowerCase(), WORDS.keys()) !== undefined) throw thrown;
    throw new InvocationError(`${thrown.message}. Several SLS names are separated by commas`);
  }
}

/** @throws {InvocationError} For SLS names whose last is empty: the next is a word of its own. */
export function checkNames(mods: Value): void {
  if (typeof mods !== "string" || !mods.trimEnd().endsWith(",")) return;
  throw new InvocationError(`'${mods}' ends in a comma. There is no space between SLS names`);
}

/**
 * The argument `queue`.
 * @throws {InvocationError} For another text than True and False.
 */
function queueWord(queue: Value): Value {
  if (typeof queue !== "string") return queue;
  const word = WORDS.get(queue.trim().toLowerCase());
  if (word === undefined) throw new InvocationError(`queue must be True, False or a number, not '${queue}'`);
  return word;
}

/** The result of `run`; while another state function runs, a message that names it, and return code 1. */
export async function unlessConflict(
  { queue, kwargs, context }: { queue: Value; kwargs: ValueMap; context: JobContext },
  run: () => Promise<Value>,
): Promise<Value> {
  for (const name of SWITCHES) switchOf(name, kwargs.get(name) ?? null);
  const conflict = await conflictOf(context, queueWord(queue), kwargs);
  if (conflict === undefined) return await run();
  context.setRetcode(RETCODE.compile);
  return conflict;
}
