/**
 * A minion's answer to a job as `salt` shows it: its return, or that it did not return.
 * Source: Salt's `salt/client/__init__.py` (get_cli_event_returns); docs/protocol.md "How a client waits".
 * @module
 */

import type { LivePart } from "#lib/protocol/live_batch.ts";
import type { LiveLines } from "#lib/output/live_lines.ts";
import type { CollectOptions, CollectTimeouts, PublishedJob, Returned, Silent } from "#lib/client/job.ts";
import type { LocalClient } from "#lib/client/local.ts";
import { BEYOND, type Outcome, silenceText } from "#lib/protocol/outcome.ts";
import { typedCommand } from "#lib/commands/cli/typed_command.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import type { Value } from "#lib/values/value.ts";

/** One minion's answer. */
export interface Answer {
  readonly id: string;
  /** Its return; a text if it did not return. */
  readonly return: Value;
  /** 0 for success; for several functions the highest code. */
  readonly retcode: number;
  /** The outputter to use. */
  readonly out?: string;
  /** The job's outcome on it. */
  readonly outcome: Outcome;
  /** What people are told besides the errors that `return` lists: a text for each, empty for none. */
  readonly errorDetails?: readonly string[];
  /** Milliseconds from the publish to its return, as this command saw them; `undefined` if it did not return. */
  readonly tookMs?: number;
}

/** The part of the master's options that hints need. */
type Place = Parameters<typeof typedCommand>[1];

/** A hint how to attach to the job again. */
export function attachHint(jid: string, place: Place): string {
  return "To see what has come of this job and follow the rest, run the following command:\n\n" +
    typedCommand(`salt-run jobs.attach ${jid}`, place);
}

/** A hint how to look up missing returns later. */
export function lookupHint(jid: string, place: Place): string {
  return "The minions may not have all finished running and any remaining minions will return upon completion. " +
    "To look up the return data for this job later, run the following command:\n\n" +
    typedCommand(`salt-run jobs.lookup_jid ${jid}`, place);
}

/** Options of {@linkcode answers}. */
export interface AnswerOptions {
  readonly timeouts: CollectTimeouts;
  /** Aborted by the operator. */
  readonly signal: AbortSignal;
  /** Shows the output of commands as they run. */
  readonly live?: LiveLines;
  /** Where the master is, for hints. */
  readonly opts: Place;
  /** When the job was published, by `performance.now()`. Default: now. */
  readonly publishedMs?: number;
  /** Called with minions that are not connected, while others are waited for. */
  readonly onAbsent?: (ids: readonly string[]) => void;
  /** Called with minions that must wait for their turn. */
  readonly onTurn?: CollectOptions["onTurn"];
  /** Called when a state of the job is done, on minions that report it. */
  readonly onState?: CollectOptions["onState"];
}

/**
 * The answers to a published job as they arrive; minions that do not return, and ids that are not accepted, come last.
 */
export async function* answers(
  client: Pick<LocalClient, "collect">,
  published: PublishedJob,
  { timeouts, signal, live, opts, publishedMs = performance.now(), onAbsent, onTurn, onState }: AnswerOptions,
): AsyncGenerator<Answer> {
  const { jid } = published;
  const onOutput = live && ((id: string, parts: readonly LivePart[]) => live.show(id, parts));
  for await (const event of client.collect(published, timeouts, { signal, onOutput, onAbsent, onTurn, onState })) {
    if (signal.aborted) return;
    const answer = event.kind === "returned"
      ? ofReturn(event, performance.now() - publishedMs)
      : ofSilence(event, { jid, opts });
    yield live === undefined ? answer : { ...answer, return: live.end(event.id, answer.return) };
  }
  if (signal.aborted) return;
  for (const id of published.missing) yield ofSilence({ kind: "silent", id, outcome: "no such minion" }, { jid, opts });
}

function ofReturn(event: Returned, tookMs: number): Answer {
  const answer: Answer = {
    id: event.id,
    return: event.return,
    retcode: plainRetcode(event.retcode),
    outcome: event.outcome,
    tookMs,
  };
  const { out, errorDetails } = event;
  return { ...answer, ...out !== undefined && { out }, ...errorDetails !== undefined && { errorDetails } };
}

/** The answer of a minion without a return; if it may still return, with a hint how to look it up. */
function ofSilence({ id, outcome }: Silent, { jid, opts }: { readonly jid: string; readonly opts: Place }): Answer {
  const final = outcome === "not connected" || outcome === BEYOND || outcome === "no such minion";
  const text = final ? silenceText(outcome) : `${silenceText(outcome)}\n${lookupHint(jid, opts)}`;
  return { id, return: text, retcode: 1, out: "no_return", outcome };
}
