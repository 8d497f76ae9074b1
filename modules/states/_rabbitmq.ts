/**
 * Shared parts of the states of RabbitMQ: where they load, calls of the execution module, and what is switched on or
 * off, added or deleted.
 * Source: Salt 3008.3, `salt/states/rabbitmq_*.py`.
 * @module
 */

import { keywords } from "./_execution.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";

/** The states are available where rabbitmqctl is. */
export const NEEDS_RABBITMQ: Virtual = {
  serves: [{ programs: ["rabbitmqctl"], otherwise: "Command not found: rabbitmqctl" }],
};

/** Calls a function of the execution module as a user of this host. */
export function rabbitmq(
  fun: string,
  args: readonly Value[],
  runas: string | null,
  context: StateContext,
): Promise<Value> {
  return context.call(`rabbitmq.${fun}`, [...args], keywords({ runas }));
}

/** A state's code, whose failed commands are the state's failure. */
export async function orError(name: Value, run: () => Promise<StateResult>): Promise<StateResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return failState(name, `Error: ${error.message}`);
  }
}

/** The text that a function returns under a key; empty if it returns something else. */
export function answerText(answer: Value, key: string): string {
  const text = isMap(answer) ? answer.get(key) : undefined;
  return typeof text === "string" ? text : "";
}

/** What a state adds or removes. */
export interface Wanted {
  readonly name: string;
  /** Whether the host is as wanted. */
  readonly isDone: boolean;
  /** The comments: nothing to do, and test mode. */
  readonly done: string;
  readonly planned: string;
  /** The changes that it makes. */
  readonly changes: { readonly old: Value; readonly new: Value };
  /** Does it; returns the comment. */
  readonly act: () => Promise<string>;
}

/** Brings the host into the wanted state, or says in test mode what would change. */
export async function reach(wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, isDone, done, planned, act } = wanted;
  if (isDone) return { ...startResult(name), comment: done };
  const changes = map(wanted.changes);
  if (context.test) return { ...startResult(name, null), comment: planned, changes };
  return { ...startResult(name), comment: await act(), changes };
}
