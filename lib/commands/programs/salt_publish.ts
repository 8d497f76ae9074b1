/**
 * Runs `salt` after its command line was read (salt.ts): reads the master's configuration, publishes the job, prints
 * returns as they arrive, and gives the exit code.
 * Source: Salt's `salt/cli/salt.py`; docs/protocol.md "How a client waits".
 * @module
 */

import { briefHelp } from "#lib/commands/cli/help.ts";
import { addStdinArgs, type Parsed } from "#lib/commands/cli/command_line.ts";
import { becomeServiceUser } from "#lib/commands/cli/command_user.ts";
import { loadClientConfig, loadMasterConfig } from "#lib/config/load.ts";
import { NoMasterError, RefusedError, TargetError, ThrottledError } from "#lib/errors.ts";
import { EX_INCOMPLETE, EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { EX_NOPERM, EX_TEMPFAIL, EX_UNAVAILABLE } from "#lib/runtime/sysexits.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { type JobRequest, type PublishedJob, timeoutsOf } from "#lib/client/job.ts";
import { LocalClient, newReturnKey } from "#lib/client/local.ts";
import { checkEauthOptions, eauthCredentials } from "./eauth.ts";
import { MACHINE_OUTPUTTERS } from "#lib/output/outputters.ts";
import { isColoured } from "#lib/output/printer.ts";
import { type AnswerOptions, answers } from "#lib/commands/report/answers.ts";
import { openSigner } from "#lib/commands/cli/open_signer.ts";
import { jobOfCommandLine } from "./salt_job.ts";
import { SALT, type SaltTable } from "./salt_options.ts";
import { NO_RETURN_TEXT, type SaltIo, type Session, tellInterrupted, turnOf } from "./salt_session.ts";
import { QUIET_MS, showAnswers } from "./salt_show.ts";
import { sampleIds } from "#lib/targeting/sample_ids.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import { sanitizeLine, useColours } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { tracerOf } from "#lib/tracing/late_tracer.ts";
import { str, toValue, type Value } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";

const UNCONTACTED = "The salt master could not be contacted. Is master running?";

/**
 * Runs the command line.
 * @returns The exit code.
 */
export async function operateSalt(parsed: Parsed<SaltTable>, terminal: SaltIo): Promise<number> {
  // Loaded late: most runs have no terminal, or end before there is anything to show.
  const progress = terminal.isErrorTerminal
    ? (await import("#lib/commands/report/progress.ts")).progressScreen(terminal)
    : undefined;
  const io: SaltIo = progress === undefined ? terminal : { ...terminal, ...progress.io };
  if (parsed.options.args_stdin) addStdinArgs(SALT, parsed, await io.readStdin());
  if (parsed.options.config_dump) return dumpConfig(parsed, io);
  const wanted = jobOfCommandLine(parsed);
  if ("incomplete" in wanted) {
    io.writeError(`salt: ${wanted.incomplete}\n${briefHelp(SALT)}`);
    return EX_INCOMPLETE;
  }
  const { timeout } = parsed.options;
  // As in Salt, 0 means the default.
  if (timeout !== null && timeout <= 0) parsed.given.delete("timeout");
  const loaded = startUp(SALT, parsed, { role: "master", load: loadClientConfig });
  await checkEauthOptions(parsed.options, loaded.opts);
  // A compound expression is matched against all minions together, not one by one.
  if (parsed.options.query !== null) parsed.options = { ...parsed.options, static: true };
  const { options } = parsed;
  if (loaded.opts.state_check_arguments && !options.preview_target && namesChecked(wanted.job)) {
    const { checkPublishedKeywords } = await import("#lib/client/published_keywords.ts");
    checkPublishedKeywords(wanted.job);
  }
  if (loaded.opts.state_check_arguments && (options.return ?? "") !== "") {
    const { checkPublishedReturners } = await import("#lib/client/published_returners.ts");
    checkPublishedReturners(options.return ?? "", loaded.opts);
  }
  // With the rights of the calling user, whose key it is.
  using signer = await openSigner(loaded.opts.sign, io.ask);
  return await withCommand(
    { io, options, arg: wanted.job.arg, loaded, takeRights: becomeServiceUser },
    async ({ opts, log, print, output, rights: user }) => {
      using live = options.live
        ? (await import("#lib/commands/cli/live_terminal.ts")).liveTerminal(output, io)
        : undefined;
      const color = isColoured(output, io);
      const errorColor = useColours({
        isTerminal: io.isErrorTerminal,
        noColor: options.no_color,
        noColorVariable: io.noColor,
        configured: opts.color,
      });
      const timeouts = timeoutsOf(opts);
      const credentials = await eauthCredentials(options, { opts, io, log });
      const shown = { print, color, errorColor, progress, live };
      const session = { io, options, opts, log, user, credentials, signer, timeouts, ...shown };
      const noLog = options.no_log ? await newReturnKey() : undefined;
      return await dispatchTraced({ ...wanted.job, noLog }, session);
    },
  );
}

/** Whether a function whose keywords are checked may be among those of the job. */
function namesChecked({ fun }: JobRequest): boolean {
  return (Array.isArray(fun) ? fun : [fun]).some((name) =>
    typeof name === "string" && /^(?:state|schedule|beacons)\./.test(name)
  );
}

function dumpConfig(parsed: Parsed<SaltTable>, io: SaltIo): number {
  const { opts } = startUp(SALT, parsed, { role: "master", load: loadMasterConfig });
  io.write(dumpYaml(toValue(opts)));
  return 0;
}

/** The job, with tracing in a span, the root of all that it causes. */
async function dispatchTraced(job: JobRequest, session: Session): Promise<number> {
  const tracer = await tracerOf(session.opts.tracing, "salt", session.log);
  if (tracer === undefined) return await dispatch(job, session);
  const attributes = { "salt.cli.tgt": str(job.tgt), "salt.cli.fun": str(job.fun) };
  try {
    return await tracer.within(
      `salt.cli.${str(job.fun)}`,
      { attributes },
      (trace) => dispatch({ ...job, trace }, session),
    );
  } finally {
    await tracer.close();
  }
}

async function dispatch(job: JobRequest, session: Session): Promise<number> {
  const { options, io, opts } = session;
  if (job.tgtType !== "glob") {
    const { checkTarget } = await import("./check_target.ts");
    checkTarget(job, { nodegroups: opts.nodegroups, delimiter: options.delimiter });
  }
  try {
    if (io.batchJid !== undefined) return await (await import("./salt_batch.ts")).runStoredBatch(io.batchJid, session);
    if (options.preview_target) return await preview(job, session);
    let batch = options.batch || undefined;
    if (batch === undefined && options.batch_safe_limit > 1) {
      if ((await matching(job, session)).length >= options.batch_safe_limit) {
        io.write("\nNOTICE: Too many minions targeted, switching to batch execution.\n");
        batch = options.batch_safe_size;
      }
    }
    if (batch !== undefined) {
      const { runBatch } = await import("./salt_batch.ts");
      return await runBatch(job, { session, spec: batch });
    }
    return await runJob(job, session);
  } catch (error) {
    return await reportMaster(error, job, session);
  }
}

/** Reports the master's refusal or absence to the operator. */
async function reportMaster(error: unknown, job: JobRequest, session: Session): Promise<number> {
  const { io, log, print } = session;
  if (error instanceof TargetError) {
    const { NO_MINIONS_MATCHED } = await import("./no_minions_hint.ts");
    io.write(NO_MINIONS_MATCHED);
    if (!session.options.async) print(new Map());
    io.writeError(`${await nobodyHint(job, session)}${NO_RETURN_TEXT}`);
    return EX_NO_MINIONS;
  }
  if (error instanceof ThrottledError) {
    io.writeError(`${error.message}\n`);
    return EX_TEMPFAIL;
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
async function matching(job: JobRequest, session: Session): Promise<readonly string[]> {
  const { resolveTarget } = await import("#lib/fleet/resolve_target.ts");
  return resolveTarget(job, await fleetHere(session), { delimiter: session.options.delimiter }).minions;
}

/** The accepted minions, and the master's data about them. */
async function fleetHere({ opts, log }: Session) {
  const { acceptedFleet } = await import("#lib/fleet/resolve_target.ts");
  const data = new DataCache(opts.cachedir, { log: log.warning });
  return acceptedFleet(opts, { keys: new KeyStore(opts.pki_dir), data });
}

/** Why nobody matches, as far as this host knows. */
async function nobodyHint(job: JobRequest, session: Session): Promise<string> {
  const { noMinionsHint } = await import("./no_minions_hint.ts");
  return `${noMinionsHint(job, new KeyStore(session.opts.pki_dir), session.opts)}${await dataHint(job, session)}`;
}

/** Targets of ids need no data. */
async function dataHint(job: JobRequest, session: Session): Promise<string> {
  if (["glob", "pcre", "list"].includes(job.tgtType)) return "";
  const { noSuchDataHint, unknownDataHint } = await import("./unknown_data_hint.ts");
  try {
    const fleet = await fleetHere(session);
    const how = { delimiter: session.options.delimiter, place: session.opts };
    return `${noSuchDataHint(job, fleet, how)}${unknownDataHint(job, fleet, how)}`;
  } catch (error) {
    // A user in publisher_acl may not read the master's files.
    if (error instanceof Deno.errors.PermissionDenied) return "";
    throw error;
  }
}

async function preview(job: JobRequest, session: Session): Promise<number> {
  let minions: readonly string[];
  try {
    minions = await matching(job, session);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    session.log.error(error.message);
    minions = [];
  }
  session.print([...minions]);
  if (minions.length > 0) return 0;
  session.io.writeError(`${await nobodyHint(job, session)}${NO_RETURN_TEXT}`);
  return EX_NO_MINIONS;
}

/** Publishes the job and shows its results. */
async function runJob(wanted: JobRequest, session: Session): Promise<number> {
  const { opts, user, log, options, io } = session;
  using client = await LocalClient.connect(opts, {
    user,
    log,
    credentials: session.credentials,
    signer: session.signer,
  });
  // Closing the client ends every wait for an event.
  const interrupt = () => client.close();
  io.signal.addEventListener("abort", interrupt);
  let published: PublishedJob | undefined;
  try {
    const job = options.subset > 0 ? await randomSubset(client, wanted, session) : wanted;
    const publishedMs = performance.now();
    published = await client.publish(job, turnOf(session));
    if (options.async) {
      io.write(`Executed command with job ID: ${published.jid}\n`);
      return 0;
    }
    printJid(published.jid, session);
    const exitCode = await followJob(client, published, { fun: job.fun, publishedMs, session });
    if (!io.signal.aborted) return exitCode;
  } catch (error) {
    // After Ctrl-C, any error of the closed connection is expected.
    if (!io.signal.aborted) throw error;
  } finally {
    io.signal.removeEventListener("abort", interrupt);
  }
  return tellInterrupted(session, published?.jid);
}

function printJid(jid: string, { options, opts, io }: Session): void {
  if (options.verbose) {
    const text = `Executing job with jid ${jid}`;
    io.write(`${text}\n${"-".repeat(text.length)}\n\n`);
  } else if (opts.show_jid) io.write(`jid: ${jid}\n`);
}

/**
 * Shows the answers to a published job, and its progress on a terminal.
 * @returns The exit code.
 */
async function followJob(
  client: LocalClient,
  published: PublishedJob,
  { fun, publishedMs, session }: { readonly fun: Value; readonly publishedMs: number; readonly session: Session },
): Promise<number> {
  const { options, opts, timeouts, io, live, progress: screen } = session;
  const progress = screen && new screen.Progress(published.minions);
  using _line = progress && screen?.follow(progress, options.progress ? 0 : QUIET_MS);
  const onAbsent = (ids: readonly string[]) => {
    if (progress !== undefined) progress.absent(ids);
    else if (!options.hide_timeout) io.writeError(absentText(ids));
  };
  let isTold = false;
  const onTurn = (ids: readonly string[], rule: number) => {
    if (!isTold) {
      io.writeError(`${ids.length} of ${published.minions.length} minions wait for their turn (rule ${rule})\n`);
    }
    isTold = true;
  };
  const forProgram = MACHINE_OUTPUTTERS.includes(opts.output ?? "");
  const showState = options.live
    ? (await import("#lib/commands/report/state_lines.ts")).stateLines({ color: session.color, io, forProgram })
    : undefined;
  const onState: AnswerOptions["onState"] = (id, done) => {
    progress?.state(id, done.len);
    showState?.(id, done);
  };
  const incoming = answers(client, published, {
    timeouts,
    signal: io.signal,
    live,
    opts,
    publishedMs,
    onAbsent,
    onTurn,
    onState,
  });
  return await showAnswers(incoming, { fun, progress }, session);
}

/** The message on standard error at the time-out, while other minions are still awaited. */
function absentText(ids: readonly string[]): string {
  return `Not connected: ${truncateList([...ids].map(sanitizeLine), 10)}. The others are waited for.\n`;
}

/** The job for a few minions, chosen at random, that have its functions. */
async function randomSubset(client: LocalClient, job: JobRequest, session: Session): Promise<JobRequest> {
  const { options: { subset }, timeouts, io, opts } = session;
  const { tgt, tgtType } = job;
  const published = await client.publish({ tgt, tgtType, fun: "sys.list_functions", arg: [] });
  const funs = Array.isArray(job.fun) ? job.fun : [job.fun];
  const able: string[] = [];
  for await (const answer of answers(client, published, { timeouts, signal: io.signal, opts })) {
    const functions = answer.return;
    if (Array.isArray(functions) && funs.every((fun) => functions.includes(fun))) able.push(answer.id);
  }
  return { ...job, tgt: sampleIds(able, subset), tgtType: "list" };
}
