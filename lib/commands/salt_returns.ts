/**
 * A minion's part in a job as `salt` shows it: what it returned, or that it did not.
 * Source: Salt's client/__init__.py (`get_cli_event_returns`); salt-protocol, section 9.
 * @module
 */

import type { LivePart } from "../protocol/live_batch.ts";
import type { LiveLines } from "../output/live_lines.ts";
import type { CollectPatience, LocalClient, PublishedJob, Returned, Silent } from "../client/local.ts";
import { type Outcome, silenceText } from "../protocol/outcome.ts";
import { plainRetcode } from "../protocol/retcode.ts";
import type { Value } from "../values/value.ts";

/** One minion's part. */
export interface Answer {
  /** The minion. */
  readonly id: string;
  /** What it returned; a text for whoever did not. */
  readonly return: Value;
  /** 0 if all went well; of a job of several functions, the highest. */
  readonly retcode: number;
  /** The outputter that suits it. */
  readonly out?: string;
  /** What became of the job on it. */
  readonly outcome: Outcome;
}

/** How to come back to a job that was left. */
export function attachHint(jid: string): string {
  return `To see what has come of this job and follow the rest, run the following command:\n\nsalt-run jobs.attach ${jid}`;
}

/** How to look up later what has not come yet. */
export function lookupHint(jid: string): string {
  return "The minions may not have all finished running and any remaining minions will return upon completion. " +
    `To look up the return data for this job later, run the following command:\n\nsalt-run jobs.lookup_jid ${jid}`;
}

/** How answers are waited for. */
export interface AnswerOptions {
  /** For how long. */
  readonly patience: CollectPatience;
  /** Aborted when the operator wants no more. */
  readonly signal: AbortSignal;
  /** Shows what commands write, as they write it. */
  readonly live?: LiveLines;
}

/** The answers to a published job as they come; those who are silent, and those whom nobody has accepted, come last. */
export async function* answers(
  client: LocalClient,
  published: PublishedJob,
  { patience, signal, live }: AnswerOptions,
): AsyncGenerator<Answer> {
  const { jid } = published;
  const onOutput = live && ((id: string, parts: readonly LivePart[]) => live.show(id, parts));
  for await (const event of client.collect(published, patience, { signal, onOutput })) {
    if (signal.aborted) return;
    const answer = event.kind === "returned" ? ofReturn(event) : ofSilence(event, jid);
    yield live === undefined ? answer : { ...answer, return: live.end(event.id, answer.return) };
  }
  if (signal.aborted) return;
  for (const id of published.missing) yield ofSilence({ kind: "silent", id, outcome: "no such minion" }, jid);
}

function ofReturn(event: Returned): Answer {
  const answer: Answer = {
    id: event.id,
    return: event.return,
    retcode: plainRetcode(event.retcode),
    outcome: event.outcome,
  };
  return event.out === undefined ? answer : { ...answer, out: event.out };
}

/** Where a return may still come, how to look it up. */
function ofSilence({ id, outcome }: Silent, jid: string): Answer {
  const final = outcome === "not connected" || outcome === "no such minion";
  const text = final ? silenceText(outcome) : `${silenceText(outcome)}\n${lookupHint(jid)}`;
  return { id, return: text, retcode: 1, out: "no_return", outcome };
}
