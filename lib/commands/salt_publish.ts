/**
 * Runs `salt` after its command line was read (salt.ts): reads the master's configuration, publishes the job, prints
 * returns as they arrive, and gives the exit code.
 * Source: Salt's cli/salt.py; salt-protocol, section 9.
 * @module
 */

import type { JobIo } from "../cli/run_command.ts";
import { helpText } from "../cli/help.ts";
import { addStdinArgs, type Parsed } from "../cli/command_line.ts";
import { becomeServiceUser } from "../cli/command_user.ts";
import { loadClientConfig, loadMasterConfig } from "../config/load.ts";
import { NoMasterError, RefusedError, TargetError, UsageError } from "../errors.ts";
import { EX_INCOMPLETE, EX_INTERRUPTED, EX_MINIONS, EX_NOBODY, EX_NOPERM, EX_UNAVAILABLE } from "../cli/exit_codes.ts";
import { KeyStore } from "../keys/store.ts";
import { type JobRequest, LocalClient, newReturnKey, patienceOf, type PublishedJob } from "../client/local.ts";
import { hasReturned } from "../protocol/outcome.ts";
import { pendingHint } from "./pending_hint.ts";
import { coloured } from "../output/printer.ts";
import { type Answer, answers } from "./salt_returns.ts";
import { mergedDocs } from "./salt_docs.ts";
import { wantedJob } from "./salt_job.ts";
import { SALT, type SaltTable } from "./salt_options.ts";
import { FAILED_TEXT, interrupted, NO_RETURN_TEXT, type Session } from "./salt_session.ts";
import { summaryText } from "./salt_summary.ts";
import { startUp } from "../cli/start_up.ts";
import { withCommand } from "../cli/with_command.ts";
import { resolveTarget } from "../fleet/target.ts";
import { sanitize } from "../text/terminal.ts";
import { str, toValue, type Value } from "../values/value.ts";
import { dumpYaml } from "../values/yaml_dump.ts";

const UNCONTACTED = "The salt master could not be contacted. Is master running?";
const NOBODY_MATCHED = "No minions matched the target. No command was sent, no jid was assigned.\n";

/** Runs the command line. @returns The exit code. */
export async function operateSalt(parsed: Parsed<SaltTable>, io: JobIo): Promise<number> {
  if (parsed.options.args_stdin) addStdinArgs(SALT, parsed, await io.readStdin());
  const { options, args } = parsed;
  if (options.config_dump) return dumpConfig(parsed, io);
  if (args.length < 2 && !options.doc && !options.preview_target) io.write(helpText(SALT, io.columns));
  const wanted = wantedJob(parsed);
  if ("incomplete" in wanted) {
    io.writeError(wanted.incomplete);
    return EX_INCOMPLETE;
  }
  if (options.eauth !== null || options.mktoken) {
    throw new UsageError("external authentication is not built: run salt as the master's user");
  }
  // As in Salt, 0 means the default.
  if (options.timeout !== null && options.timeout <= 0) parsed.given.delete("timeout");
  const loaded = startUp(SALT, parsed, { role: "master", load: loadClientConfig });
  return await withCommand(
    { io, options, loaded, takeRights: becomeServiceUser },
    async ({ opts, log, print, output, rights: user }) => {
      using live = options.live ? (await import("../cli/live_terminal.ts")).liveTerminal(output, io) : undefined;
      const color = coloured(output, io);
      const session = { io, options, opts, log, user, print, color, live, patience: patienceOf(opts) };
      const noLog = options.no_log ? await newReturnKey() : undefined;
      return await dispatch({ ...wanted.job, noLog }, session);
    },
  );
}

function dumpConfig(parsed: Parsed<SaltTable>, io: JobIo): number {
  const { opts } = startUp(SALT, parsed, { role: "master", load: loadMasterConfig });
  io.write(dumpYaml(toValue(opts)));
  return 0;
}

async function dispatch(job: JobRequest, session: Session): Promise<number> {
  const { options, io } = session;
  try {
    if (options.preview_target) return preview(job, session);
    let batch = options.batch || undefined;
    if (batch === undefined && options.batch_safe_limit > 1) {
      if (matching(job, session).length >= options.batch_safe_limit) {
        io.write("\nNOTICE: Too many minions targeted, switching to batch execution.\n");
        batch = options.batch_safe_size;
      }
    }
    if (batch !== undefined) {
      if (options.async) throw new UsageError("--async cannot go with --batch: nobody would start the next minions");
      const { runBatch } = await import("./salt_batch.ts");
      return await runBatch(job, { session, spec: batch });
    }
    return await runJob(job, session);
  } catch (error) {
    return reportMaster(error, job, session);
  }
}

/** Reports the master's refusal or absence to the operator. */
function reportMaster(error: unknown, { tgt, tgtType }: JobRequest, session: Session): number {
  const { io, log, print, opts } = session;
  if (error instanceof TargetError) {
    io.write(NOBODY_MATCHED);
    if (!session.options.async) print(new Map());
    io.writeError(sanitize(`${pendingHint(tgt, tgtType, new KeyStore(opts.pki_dir))}${NO_RETURN_TEXT}`));
    return EX_NOBODY;
  }
  if (error instanceof RefusedError) {
    print(error.message, { retcode: 1 });
    return EX_NOPERM;
  }
  if (error instanceof NoMasterError) {
    log.error(error.message);
    print(UNCONTACTED, { retcode: 1 });
    return EX_UNAVAILABLE;
  }
  throw error;
}

/** The accepted minions that the target matches, from the data on this host. */
function matching({ tgt, tgtType }: JobRequest, { opts }: Session): string[] {
  return resolveTarget(tgt, tgtType, new KeyStore(opts.pki_dir).list("accepted")).minions;
}

function preview(job: JobRequest, session: Session): number {
  let minions: string[];
  try {
    minions = matching(job, session);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    session.log.error(error.message);
    minions = [];
  }
  session.print(minions);
  if (minions.length > 0) return 0;
  session.io.writeError(NO_RETURN_TEXT);
  return EX_NOBODY;
}

/** Publishes the job and shows its results. */
async function runJob(wanted: JobRequest, session: Session): Promise<number> {
  const { opts, user, log, options, io } = session;
  using client = await LocalClient.connect(opts, { user, log });
  // Closing the client wakes up everything that waits for an event.
  const interrupt = () => client.close();
  io.signal.addEventListener("abort", interrupt);
  let published: PublishedJob | undefined;
  try {
    const job = options.subset > 0 ? await randomSubset(client, wanted, session) : wanted;
    published = await client.publish(job);
    if (options.async) {
      io.write(`Executed command with job ID: ${published.jid}\n`);
      return 0;
    }
    printJid(published.jid, session);
    const exitCode = await show(client, published, { job, session });
    if (!io.signal.aborted) return exitCode;
  } catch (error) {
    // After Ctrl-C, any error of the closed connection is expected.
    if (!io.signal.aborted) throw error;
  } finally {
    io.signal.removeEventListener("abort", interrupt);
  }
  return interrupted(session, published?.jid);
}

function printJid(jid: string, { options, opts, io }: Session): void {
  if (options.verbose) {
    const text = `Executing job with jid ${jid}`;
    io.write(`${text}\n${"-".repeat(text.length)}\n\n`);
  } else if (opts.show_jid) io.write(`jid: ${jid}\n`);
}

/** The job for a few minions, chosen at random, that have its functions. */
async function randomSubset(client: LocalClient, job: JobRequest, session: Session): Promise<JobRequest> {
  const { options: { subset }, patience, io } = session;
  const { tgt, tgtType } = job;
  const published = await client.publish({ tgt, tgtType, fun: "sys.list_functions", arg: [] });
  const funs = Array.isArray(job.fun) ? job.fun : [job.fun];
  const able: string[] = [];
  for await (const answer of answers(client, published, { patience, signal: io.signal })) {
    const functions = answer.return;
    if (Array.isArray(functions) && funs.every((fun) => functions.includes(fun))) able.push(answer.id);
  }
  for (let i = able.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [able[i], able[j]] = [able[j], able[i]];
  }
  return { ...job, tgt: able.slice(0, subset), tgtType: "list" };
}

/** Shows the answers as the options ask for. */
async function show(
  client: LocalClient,
  published: PublishedJob,
  { job, session }: { job: JobRequest; session: Session },
): Promise<number> {
  const { options, opts, patience, io, print, live } = session;
  const docs = job.fun === "sys.doc";
  const each = !docs && !options.static && !options.progress;
  const all: Answer[] = [];
  const bar = options.progress ? await progressBar(published, session) : undefined;
  for await (const answer of answers(client, published, { patience, signal: io.signal, live })) {
    if (!hasReturned(answer.outcome) && options.hide_timeout) continue;
    all.push(answer);
    bar?.update(all.filter(({ outcome }) => hasReturned(outcome)).length);
    if (each) print(new Map([[answer.id, answer.return]]), { out: answer.out, retcode: answer.retcode });
  }
  bar?.end();
  if (io.signal.aborted) return EX_INTERRUPTED;
  if (docs) return showDocs(all, session);
  if (options.static) {
    if (!all.some(({ outcome }) => hasReturned(outcome))) {
      print(new Map());
      io.writeError(NO_RETURN_TEXT);
      return EX_NOBODY;
    }
    print(new Map<Value, Value>(all.map(({ id, return: returned }) => [id, returned])), { retcode: worst(all) });
  }
  const summary = options.progress || (opts.cli_summary && opts.output === null);
  if (summary) io.write(summaryText(all, { verbose: options.verbose, color: session.color }));
  if (worst(all) === 0) return 0;
  io.writeError(FAILED_TEXT);
  return EX_MINIONS;
}

function worst(all: readonly Answer[]): number {
  return all.find(({ retcode }) => retcode !== 0)?.retcode ?? 0;
}

async function progressBar(published: PublishedJob, { io }: Session) {
  if (!io.isErrorTerminal) return undefined;
  const { ProgressBar } = await import("../output/progress_bar.ts");
  return new ProgressBar(published.minions.length, { write: (text) => io.writeError(text), columns: io.columns });
}

/** `sys.doc`: the documentation of all minions, each function once. */
function showDocs(all: readonly Answer[], { opts, io, print }: Session): number {
  if (all.length === 0) {
    io.writeError("No minions found to gather docs from\n");
    return EX_NOBODY;
  }
  const { docs, failures } = mergedDocs(all);
  for (const [name, doc] of docs) {
    if (opts.output !== null) print(new Map([[name, doc]]));
    else io.write(sanitize(`${str(name)}:\n${str(doc)}\n\n`));
  }
  for (const { id, return: returned, out } of failures) print(new Map([[id, returned]]), { out, retcode: 1 });
  if (failures.length === 0) return 0;
  io.writeError(FAILED_TEXT);
  return EX_MINIONS;
}
