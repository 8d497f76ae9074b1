/**
 * `salt --batch`: runs a job on a few minions at a time. All parts have the same job id, so that the job cache has one
 * job.
 * Source: Salt's cli/batch.py and utils/batch_state.py.
 * @module
 */

import { UsageError } from "../errors.ts";
import { EX_MINIONS, EX_NOBODY } from "../cli/exit_codes.ts";
import { makeJid } from "../protocol/jid.ts";
import { type JobRequest, LocalClient } from "../client/local.ts";
import { MACHINE_OUTPUTTERS } from "../output/outputters.ts";
import { hasReturned } from "../protocol/outcome.ts";
import { type Answer, answers } from "../report/answers.ts";
import { failuresText } from "../report/failures.ts";
import { interrupted, NO_RETURN_TEXT, type Session } from "./salt_session.ts";
import { sanitizeLine } from "../text/terminal.ts";
import { compareStrings, repr, type Value } from "../values/value.ts";
import { clearTimeout, setTimeout, type Timer } from "../os/timers.ts";

/**
 * The number of minions at a time, out of `count`, for `spec` (`3`, `25%`): at least one.
 * @throws {UsageError} If `spec` is neither a number nor a percentage.
 */
export function batchSize(spec: string, count: number): number {
  const percent = /^%?\s*(\d+(?:\.\d+)?)\s*%?$/.exec(spec.trim());
  const plain = /^\d+$/.exec(spec.trim());
  if (plain !== null) return Math.max(1, Number(plain[0]));
  if (percent === null || !spec.includes("%")) {
    throw new UsageError(`Invalid batch data sent: ${spec}\nData must be in the form of %10, 10% or 3`);
  }
  const size = Number(percent[1]) / 100 * count;
  return size < 1 ? 1 : Math.floor(size);
}

/**
 * Runs the job in batches, after a `test.ping` that finds the minions that answer.
 * @returns The exit code: the highest return code.
 * @throws {UsageError} For an invalid `spec`; else as {@linkcode LocalClient.publish}.
 */
export async function runBatch(job: JobRequest, how: { session: Session; spec: string }): Promise<number> {
  const { session, spec } = how;
  const { io, options } = session;
  batchSize(spec, 1); // report an invalid one before anything is sent
  const { up, down } = await ping(job, session);
  if (io.signal.aborted) return interrupted(session);
  const quiet = options.static;
  if (!quiet) {
    for (const { id } of down) tell(session, `Minion ${sanitizeLine(id)} did not respond. No job will be sent.\n`);
  }
  if (up.length === 0) {
    io.writeError(NO_RETURN_TEXT);
    return EX_NOBODY;
  }
  const run = new BatchRun({ ...job, jid: makeJid() }, { session, quiet, ids: up, size: batchSize(spec, up.length) });
  const all = await run.finish();
  if (io.signal.aborted) return interrupted(session, run.jid);
  const worst = Math.max(down.length > 0 ? EX_MINIONS : 0, ...all.map(({ retcode }) => Math.abs(retcode)));
  const returned = all.filter(({ outcome }) => hasReturned(outcome));
  if (quiet) {
    session.print(new Map<Value, Value>(returned.map(({ id, return: value }) => [id, value])), { retcode: worst });
  }
  if (worst !== 0) io.writeError(failuresText([...all, ...down], { color: session.errorColor }));
  return Math.min(worst, 255);
}

/** Writes what is no result: to standard error if a program reads the results. */
function tell({ io, opts }: Session, text: string): void {
  if (MACHINE_OUTPUTTERS.includes(opts.output ?? "")) io.writeError(text);
  else io.write(text);
}

async function ping({ tgt, tgtType }: JobRequest, session: Session): Promise<{ up: string[]; down: Answer[] }> {
  const up: string[] = [], down: Answer[] = [];
  for await (const answer of publishedAnswers({ tgt, tgtType, fun: "test.ping", arg: [] }, session)) {
    if (hasReturned(answer.outcome)) up.push(answer.id);
    else down.push(answer);
  }
  return { up: up.sort(compareStrings), down: down.sort((a, b) => compareStrings(a.id, b.id)) };
}

/** Publishes with a separate connection, because the parts of a batch wait concurrently. */
async function* publishedAnswers(
  job: JobRequest,
  { opts, user, log, credentials, patience, io, live }: Session,
): AsyncGenerator<Answer> {
  using client = await LocalClient.connect(opts, { user, log, credentials });
  const interrupt = () => client.close();
  io.signal.addEventListener("abort", interrupt);
  try {
    yield* answers(client, await client.publish(job), { patience, signal: io.signal, live, opts });
  } catch (error) {
    if (!io.signal.aborted) throw error;
  } finally {
    io.signal.removeEventListener("abort", interrupt);
  }
}

/** How a batch runs. */
interface BatchPlan {
  readonly session: Session;
  /** Whether nothing is shown meanwhile. */
  readonly quiet: boolean;
  readonly ids: readonly string[];
  /** Number of minions at a time. */
  readonly size: number;
}

class BatchRun {
  readonly jid: string;
  readonly #job: JobRequest;
  readonly #plan: BatchPlan;
  readonly #pending: string[];
  readonly #answers: Answer[] = [];
  readonly #timers = new Set<Timer>();
  readonly #finished = Promise.withResolvers<void>();
  #parts = 0;
  #free: number;
  #halted = false;

  constructor(job: JobRequest & { readonly jid: string }, plan: BatchPlan) {
    this.jid = job.jid;
    this.#job = job;
    this.#plan = plan;
    this.#pending = [...plan.ids];
    this.#free = plan.size;
  }

  /** Runs everything; resolves with all answers after the last one, a failure, or Ctrl-C. */
  async finish(): Promise<Answer[]> {
    const { signal } = this.#plan.session.io;
    const stop = () => this.#finished.resolve();
    signal.addEventListener("abort", stop);
    this.#fill();
    try {
      await this.#finished.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      for (const timer of this.#timers) clearTimeout(timer);
      this.#halted = true;
    }
    return this.#answers;
  }

  /** Starts the job on the next minions while there are free places. */
  #fill(): void {
    if (this.#halted) return;
    const ids = this.#pending.splice(0, this.#free);
    this.#free -= ids.length;
    if (ids.length > 0) {
      this.#parts++;
      this.#run(ids).catch((error) => this.#finished.reject(error));
    } else if (this.#parts === 0 && this.#pending.length === 0) this.#finished.resolve();
  }

  async #run(ids: string[]): Promise<void> {
    const { session, quiet } = this.#plan;
    if (!quiet) tell(session, `\nExecuting run on ${sanitizeLine(repr(ids))}\n\n`);
    for await (const answer of publishedAnswers({ ...this.#job, tgt: ids, tgtType: "list" }, session)) {
      if (this.#halted) return;
      this.#take(answer);
    }
    this.#parts--;
    this.#fill();
  }

  #take(answer: Answer): void {
    const { session } = this.#plan;
    this.#answers.push(answer);
    if (!this.#plan.quiet) this.#show(answer);
    if (session.options.failhard && answer.retcode !== 0) {
      session.log.error("Batch run stopped due to failhard");
      this.#halted = true;
      this.#finished.resolve();
      return;
    }
    const waitMs = session.options.batch_wait * 1000;
    if (waitMs <= 0) return this.#release();
    this.#parts++;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#parts--;
      this.#release();
    }, waitMs);
    this.#timers.add(timer);
  }

  #release(): void {
    this.#free++;
    this.#fill();
  }

  #show(answer: Answer): void {
    const { session, session: { print } } = this.#plan;
    if (!hasReturned(answer.outcome)) {
      tell(session, `Minion '${sanitizeLine(answer.id)}' failed to respond to job sent\n`);
      return;
    }
    const shown = new Map<Value, Value>([["jid", this.jid], ["retcode", answer.retcode], [answer.id, answer.return]]);
    print(shown, { out: answer.out, retcode: answer.retcode });
  }
}
