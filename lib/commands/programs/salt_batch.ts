/**
 * `salt --batch`: runs a job on a few minions at a time, and shows what they return. All parts have the same job id, so
 * that the job cache has one job. With `--async` another process runs it, in the background.
 * Source: Salt's `salt/cli/batch.py` and `salt/utils/batch_state.py`.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { NoMasterError, UsageError } from "#lib/errors.ts";
import { batchSize } from "#lib/jobs/batch_size.ts";
import { EX_MINIONS, EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { commandStore } from "#lib/client/command_store.ts";
import type { BatchState, JobStore } from "#lib/jobs/store.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import type { ReturnKey } from "#lib/protocol/return_key.ts";
import { batchEvent } from "#lib/protocol/tags.ts";
import type { JobRequest } from "#lib/client/job.ts";
import { LocalClient } from "#lib/client/local.ts";
import { MACHINE_OUTPUTTERS } from "#lib/output/outputters.ts";
import { hasReturned } from "#lib/protocol/outcome.ts";
import { type Answer, answers } from "#lib/commands/report/answers.ts";
import { failuresText } from "#lib/commands/report/failures.ts";
import { BackgroundParts } from "./batch_parts.ts";
import { BatchRecord } from "./batch_record.ts";
import { MASK } from "#lib/protocol/no_log.ts";
import { BatchRun } from "./batch_run.ts";
import { NO_RETURN_TEXT, type Session, tellInterrupted, turnOf } from "./salt_session.ts";
import { showDrift } from "./salt_show.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";
import { compareStrings, repr, str, type Value } from "#lib/values/value.ts";

/** The parts of a batch besides its session. */
export interface BatchOptions {
  readonly session: Session;
  /** The size, as it was typed. */
  readonly spec: string;
}

/**
 * Runs the job in batches on the minions that answer a `test.ping`; with `--async`, in a process in the background.
 * @returns The exit code: the highest return code.
 * @throws {UsageError} For an invalid `spec`; else as {@linkcode LocalClient.publish}.
 */
export async function runBatch(job: JobRequest, { session, spec }: BatchOptions): Promise<number> {
  const { io, options, opts } = session;
  checkOptions(session, spec);
  const { up, down } = await ping(job, session);
  if (io.signal.aborted) return tellInterrupted(session);
  const quiet = options.static && !options.async;
  for (const { id } of quiet ? [] : down) {
    printStatus(session, `Minion ${sanitizeLine(id)} did not respond. No job will be sent.\n`);
  }
  if (up.length === 0) {
    io.writeError(NO_RETURN_TEXT);
    return EX_NO_MINIONS;
  }
  const jobs = commandStore(opts, { log: (text) => session.log.debug(text) });
  const jid = makeJid(undefined, { unique: opts.unique_jid });
  const state = newBatch(job, { jid, minions: up, session, spec });
  if (options.async) {
    await jobs.prepare(jid);
    await jobs.batches.save(state);
    await startInBackground(state, session);
    io.write(`Executed batch command with job ID: ${jid}\n`);
    return 0;
  }
  const show = new BatchPrinter(session, { jid, quiet });
  const { all, halted } = await drive(state, { session, store: jobs.batches, show, noLog: job.noLog });
  if (io.signal.aborted) return tellInterrupted(session, jid);
  if (halted !== undefined) session.log.error(`Batch run stopped due to ${halted}`);
  const worst = Math.max(down.length > 0 ? EX_MINIONS : 0, ...all.map(({ retcode }) => Math.abs(retcode)));
  const returned = all.filter(({ outcome }) => hasReturned(outcome));
  if (quiet) {
    session.print(new Map<Value, Value>(returned.map(({ id, return: value }) => [id, value])), { retcode: worst });
  }
  showDrift(returned, session);
  if (worst !== 0) io.writeError(failuresText([...all, ...down], { color: session.errorColor }));
  return Math.min(worst, 255);
}

/**
 * Refuses what a batch cannot do, before anything is sent.
 * @throws {UsageError}
 */
function checkOptions({ options, credentials, signer }: Session, spec: string): void {
  batchSize(spec, 1);
  if (options.async && options.no_log) {
    throw new UsageError(
      "--no-log cannot go with --async and --batch: the arguments are kept until the last minion has run",
    );
  }
  if (options.async && signer !== undefined) {
    throw new UsageError("--sign cannot go with --async and --batch: the key stays with this command");
  }
  if (options.async && credentials !== undefined) {
    throw new UsageError("--async with --batch cannot go with -a or -T: the password would not be stored");
  }
}

/** A batch of which nothing has run. */
function newBatch(
  job: JobRequest,
  { jid, minions, session, spec }: BatchOptions & { readonly jid: string; readonly minions: readonly string[] },
): BatchState {
  const { options, timeouts, user } = session;
  return {
    jid,
    minions,
    pending: minions,
    active: new Map(),
    done: new Map(),
    failed: new Map(),
    size: batchSize(spec, minions.length),
    fun: job.fun,
    arg: job.arg,
    kwargs: job.kwargs ?? new Map(),
    tgt: job.tgt,
    tgtType: job.tgtType,
    failhard: options.failhard,
    waitS: options.batch_wait,
    timeoutS: timeouts.timeoutMs / 1000,
    gatherS: timeouts.gatherMs / 1000,
    progressMs: Date.now(),
    createdMs: Date.now(),
    halted: undefined,
    driver: options.async ? "master" : "cli",
    pid: undefined,
    ret: job.ret ?? "",
    user,
  };
}

async function startInBackground({ jid, size, fun }: BatchState, { io, opts, user }: Session): Promise<void> {
  // The process uses only the configuration; the other words are for people who list the processes.
  const words = [
    "-c",
    opts.config_dir,
    "--async",
    `--batch=${size}`,
    jid,
    Array.isArray(fun) ? fun.map(str).join(",") : str(fun),
  ];
  await io.startBatch?.(words, { user, jid });
}

/**
 * Runs the batch `jid`, which `--async` has stored, in this process. Prints nothing.
 * @returns The exit code; nothing reads it.
 */
export async function runStoredBatch(jid: string, session: Session): Promise<number> {
  const { batches } = commandStore(session.opts, { log: (text) => session.log.warning(text) });
  const state = await batches.read(jid);
  if (state === undefined) throw new UsageError(`There is no batch job ${jid}`);
  const timeouts = { timeoutMs: state.timeoutS * 1000, gatherMs: state.gatherS * 1000 };
  await drive(state, { session: { ...session, timeouts }, store: batches, inBackground: true });
  return 0;
}

/** The parts of {@linkcode drive}. */
interface Driving {
  readonly session: Session;
  readonly store: JobStore["batches"];
  /** Shows parts and answers. */
  readonly show?: BatchPrinter;
  readonly noLog?: ReturnKey;
  /** Whether it continues after a restart of the master. */
  readonly inBackground?: boolean;
}

/** Runs a batch to its end: its last answer, a failure with `failhard`, `batch.stop`, or Ctrl-C. */
async function drive(
  state: BatchState,
  { session, store, show, noLog, inBackground }: Driving,
): Promise<{ readonly all: readonly Answer[]; readonly halted: string | undefined }> {
  const { jid, fun, arg, kwargs, ret } = state;
  const { opts, io: { signal } } = session;
  // Aborts the running parts when the batch is halted.
  const over = new AbortController();
  const parts: Session = { ...session, io: { ...session.io, signal: AbortSignal.any([signal, over.signal]) } };
  const bus = masterBus(opts.sock_dir);
  // The state is in the job store, where other commands read it.
  const stored = noLog === undefined ? state : { ...state, arg: [MASK], kwargs: new Map() };
  const record = await BatchRecord.start(stored, { store, fire: (tag, data) => fireEvent(bus, tag, data) });
  const backgroundParts = inBackground ? new BackgroundParts(parts) : undefined;
  const part = { tgtType: "list", fun, arg, kwargs, ret, jid, noLog };
  const run = new BatchRun({
    ids: state.pending,
    size: state.size,
    waitMs: state.waitS * 1000,
    failhard: state.failhard,
    run: (ids) => {
      const job = { ...part, tgt: [...ids] };
      return backgroundParts?.answers(job, ids) ?? publishedAnswers(job, parts);
    },
    started(ids) {
      record.started(ids);
      show?.started(ids);
    },
    answered(answer) {
      record.answered(answer);
      show?.answered(answer);
    },
  });
  const interrupt = () => run.halt("interrupted");
  signal.addEventListener("abort", interrupt);
  using stops = await EventSubscriber.connect(bus.pub, [batchEvent(jid, "stop")]);
  const stopping = (async () => {
    const event = await stops.next();
    if (event !== undefined) run.halt(str(event.data.get("reason") ?? "stop"));
  })();
  let halted: string | undefined = "error";
  try {
    const all = await run.finish();
    halted = run.halted;
    return { all, halted };
  } catch (error) {
    if (error instanceof NoMasterError) halted = "no master";
    throw error;
  } finally {
    signal.removeEventListener("abort", interrupt);
    over.abort();
    stops.close();
    await stopping;
    await record.end(halted);
  }
}

/** Shows a batch as Salt does. */
class BatchPrinter {
  readonly #session: Session;
  readonly #how: { readonly jid: string; readonly quiet: boolean };

  constructor(session: Session, how: { readonly jid: string; readonly quiet: boolean }) {
    this.#session = session;
    this.#how = how;
  }

  /** A part begins. */
  started(ids: readonly string[]): void {
    if (!this.#how.quiet) printStatus(this.#session, `\nExecuting run on ${sanitizeLine(repr([...ids]))}\n\n`);
  }

  /** A minion has answered. */
  answered({ id, return: value, retcode, outcome, out }: Answer): void {
    const { jid, quiet } = this.#how;
    if (quiet) return;
    if (!hasReturned(outcome)) {
      printStatus(this.#session, `Minion '${sanitizeLine(id)}' failed to respond to job sent\n`);
      return;
    }
    // Between the states of two minions, as people read them, blocks for the job and the return code tell nothing.
    const forPeople = out === "highstate" && !MACHINE_OUTPUTTERS.includes(this.#session.opts.output ?? "");
    const answer = new Map<Value, Value>([...forPeople ? [] : [["jid", jid], ["retcode", retcode]] as const, [
      id,
      value,
    ]]);
    this.#session.print(answer, { out, retcode });
  }
}

/** Writes a message that is not a result: to standard error if a program reads the results. */
function printStatus({ io, opts }: Session, text: string): void {
  if (MACHINE_OUTPUTTERS.includes(opts.output ?? "")) io.writeError(text);
  else io.write(text);
}

/** @throws {RefusedError} If the user may not run the job itself; then nobody is pinged. */
async function ping(job: JobRequest, session: Session): Promise<{ up: string[]; down: Answer[] }> {
  const { tgt, tgtType } = job;
  await checkRights(job, session);
  const up: string[] = [], down: Answer[] = [];
  for await (const answer of publishedAnswers({ tgt, tgtType, fun: "test.ping", arg: [] }, session)) {
    if (hasReturned(answer.outcome)) up.push(answer.id);
    else down.push(answer);
  }
  return { up: up.sort(compareStrings), down: down.sort((a, b) => compareStrings(a.id, b.id)) };
}

async function checkRights(job: JobRequest, { opts, user, log, credentials }: Session): Promise<void> {
  using client = await LocalClient.connect(opts, { user, log, credentials });
  await client.resolve(job);
}

/** Publishes with a separate connection, because the parts of a batch wait concurrently. */
async function* publishedAnswers(
  job: JobRequest,
  session: Session,
): AsyncGenerator<Answer> {
  const { opts, user, log, credentials, signer, timeouts, io, live } = session;
  using client = await LocalClient.connect(opts, { user, log, credentials, signer });
  const interrupt = () => client.close();
  io.signal.addEventListener("abort", interrupt);
  try {
    yield* answers(client, await client.publish(job, turnOf(session, Infinity)), {
      timeouts,
      signal: io.signal,
      live,
      opts,
    });
  } catch (error) {
    if (!io.signal.aborted) throw error;
  } finally {
    io.signal.removeEventListener("abort", interrupt);
  }
}
