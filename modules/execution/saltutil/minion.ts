/**
 * Execution module `saltutil`: the minion's own jobs, and refreshes of its modules, grains and pillar. Fetching modules
 * is in `syncing.ts`, functions of the master on this host in `master_side.ts`.
 *
 * Source: the functions of Salt 3008.3 `salt/modules/saltutil.py`.
 * @module
 */

import { readFileIfExists } from "#lib/os/atomic_file.ts";
import { CommandError, messageOf, RequestTimeoutError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { fn, type JobContext, type RunningJob } from "#lib/plugins/job_context.ts";
import { keptReturn, keptReturns } from "#lib/jobs/kept_returns.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { decode } from "#lib/values/msgpack.ts";
import { KEY_ROTATED, ROTATE_KEY } from "#lib/protocol/tags.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";

const SIGKILL = 9;
const SIGTERM = 15;

/** A job as Salt's file `proc/<jid>` has it. */
function asMap({ pid, fun, arg, tgt, jid, ret, tgt_type, user }: RunningJob): ValueMap {
  return map({ pid, fun, arg, tgt, jid, ret, tgt_type, user });
}

/** The jobs that are being run, the asking one left out. */
async function others({ jobs, job }: JobContext): Promise<RunningJob[]> {
  return (await jobs.running()).filter(({ jid }) => jid !== job.jid);
}

export const running: ModuleFunction<JobContext> = fn({
  doc: describe("Return the jobs that this minion is running, this one left out: a list of maps.", "saltutil.running"),
  params: {},
  run: async (_bound, context) => (await others(context)).map(asMap),
});

export const is_running: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the running jobs whose function a glob matches.",
    "saltutil.is_running state.highstate",
  ),
  params: { fun: p.str() },
  run: async ({ fun }, context) => (await others(context)).filter((job) => matchesGlob(fun, job.fun)).map(asMap),
});

export const find_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the job with that id if it runs on this minion, else an empty map.",
    "saltutil.find_job <job id>",
  ),
  params: { jid: p.str() },
  async run({ jid }, context) {
    const other = (await others(context)).find((job) => job.jid === jid);
    return other === undefined ? new Map() : asMap(other);
  },
});

/** Signals one job; the text is Salt's, empty if there is no such job. */
async function sendTo(jid: string, signal: number, context: JobContext): Promise<string> {
  const other = (await others(context)).find((job) => job.jid === jid);
  if (other === undefined) return "";
  if (await context.jobs.signal(jid, signal)) {
    return `Signal ${signal} sent to job ${jid}${other.pid === null ? "" : ` at pid ${other.pid}`}`;
  }
  return `Job ${jid} was not running and job data has been cleaned up`;
}

async function sendToAll(signal: number, context: JobContext): Promise<string[]> {
  const sent: string[] = [];
  for (const { jid } of await others(context)) sent.push(await sendTo(jid, signal, context));
  return sent;
}

export const signal_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a signal, by its number, to the job with that id and to the commands that it runs. Returns a text with the pid that got it, or an\n" +
      "empty text if there is no such job.",
    "saltutil.signal_job <job id> 15",
  ),
  params: { jid: p.str(), sig: p.int() },
  run: ({ jid, sig }, context) => sendTo(jid, sig, context),
});

export const term_job: ModuleFunction<JobContext> = fn({
  doc: describe("Send SIGTERM (15) to the job with that id.", "saltutil.term_job <job id>"),
  params: { jid: p.str() },
  run: ({ jid }, context) => sendTo(jid, SIGTERM, context),
});

export const kill_job: ModuleFunction<JobContext> = fn({
  doc: describe("Send SIGKILL (9) to the job with that id, which ends it.", "saltutil.kill_job <job id>"),
  params: { jid: p.str() },
  run: ({ jid }, context) => sendTo(jid, SIGKILL, context),
});

export const term_all_jobs: ModuleFunction<JobContext> = fn({
  doc: describe("Send SIGTERM (15) to every other job; returns a list of texts.", "saltutil.term_all_jobs"),
  params: {},
  run: (_bound, context) => sendToAll(SIGTERM, context),
});

export const kill_all_jobs: ModuleFunction<JobContext> = fn({
  doc: describe("Send SIGKILL (9) to every other job; returns a list of texts.", "saltutil.kill_all_jobs"),
  params: {},
  run: (_bound, context) => sendToAll(SIGKILL, context),
});

export const refresh_grains: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Refresh the minion's grains, and then its pillar, or, with refresh_pillar=False, its modules.\n" +
      "clean_pillar_cache is accepted: the master's pillar_cache is cleaned in any case.",
    "saltutil.refresh_grains",
  ),
  params: { refresh_pillar: p.bool(true), clean_pillar_cache: p.bool(false) },
  async run({ refresh_pillar }, { outside }) {
    await outside.refresh("grains");
    await outside.refresh(refresh_pillar ? "pillar" : "modules");
    return true;
  },
});

/** A function that fires an event on the minion's own bus, to refresh something. */
function refreshFunction(name: string, tag: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Fire an event on the minion's bus that ${what} must be read again. Return whether the event was sent.`,
      `saltutil.${name}`,
    ),
    params: {},
    run: (_bound, { outside }) => outside.fire(new Map(), tag),
  });
}

export const refresh_beacons: ModuleFunction<JobContext> = refreshFunction(
  "refresh_beacons",
  "beacons_refresh",
  "beacons",
);
export const refresh_matchers: ModuleFunction<JobContext> = refreshFunction(
  "refresh_matchers",
  "matchers_refresh",
  "matchers",
);
export const refresh_resources: ModuleFunction<JobContext> = refreshFunction(
  "refresh_resources",
  "resource_refresh",
  "resources",
);

export const mmodule: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Call another function of this minion. saltenv is ignored: Salt would first fetch modules from it, which saltutil.sync_modules does.",
    "saltutil.mmodule base test.ping",
  ),
  permissions: "all",
  params: { saltenv: p.str(), fun: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ fun }, { call }, { args, kwargs }) =>
    call(fun, args, new Map([...kwargs].filter(([key]) => !String(key).startsWith("__")))),
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Always an error, as in every Salt that is not built with Esky. Upgrade the package of the minion instead.",
    "saltutil.update",
    "saltutil.update 0.10.3",
  ),
  params: { version: p.any(null) },
  run: () => map({ _error: "Esky not available as import" }),
});

/**
 * Directories of the cache in which the minion keeps what it still needs: jobs and their returns, and who runs them.
 */
const KEPT = ["commands", "jids", "journal", "proc", "returns"];

export const clear_cache: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the files of the minion's cache directory, except for those of running jobs and undelivered\n" +
      "returns. Return whether that worked.",
    "saltutil.clear_cache",
  ),
  permissions: { read: ["{cachedir}"], write: ["{cachedir}"] },
  params: {},
  run(_bound, context) {
    const { cachedir } = context.opts;
    try {
      for (const { name, isDirectory } of Deno.readDirSync(cachedir)) {
        if (isDirectory && !KEPT.includes(name)) removeFiles(`${cachedir}/${name}`);
        if (!isDirectory) Deno.removeSync(`${cachedir}/${name}`);
      }
      return true;
    } catch (error) {
      context.log("error", `Attempt to clear cache with saltutil.clear_cache FAILED with: ${messageOf(error)}`);
      return false;
    }
  },
});

/** Removes the files in a directory and those below it, which stay. Links are removed, and not followed. */
function removeFiles(directory: string): void {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) removeFiles(`${directory}/${name}`);
    else Deno.removeSync(`${directory}/${name}`);
  }
}

export const refresh_modules: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Let the minion load its modules again for later jobs. async is accepted and\n" +
      "ignored.",
    "saltutil.refresh_modules",
  ),
  params: { async: p.bool(true) },
  run: (_bound, { outside }) => outside.refresh("modules"),
});

/** `saltutil.refresh_pillar`, or another name of it. */
function refreshingPillar(doc: string): ModuleFunction<JobContext> {
  return fn({
    doc,
    params: { wait: p.bool(false), timeout: p.float(30), clean_cache: p.bool(true) },
    run: ({ wait, timeout, clean_cache }, { outside }) =>
      clean_cache
        ? outside.refresh("pillar", { waitS: wait ? timeout : 0 })
        : outside.fire(map({ clean_cache }), "pillar_refresh"),
  });
}

export const refresh_pillar: ModuleFunction<JobContext> = refreshingPillar(
  describe(
    "Have the minion ask for its pillar again, and wait until it has it; salt-call waits with wait=True, for at most timeout\n" +
      "seconds. clean_cache=False lets the master answer with what its pillar_cache keeps.",
    "saltutil.refresh_pillar",
  ),
);

export const pillar_refresh: ModuleFunction<JobContext> = refreshingPillar(
  describe("Another name of saltutil.refresh_pillar.", "saltutil.pillar_refresh"),
);

export const list_extmods: ModuleFunction<JobContext> = fn({
  doc: describe("Return the modules in the directory extension_modules, by family.", "saltutil.list_extmods"),
  permissions: { read: ["{extension_modules}"] },
  params: {},
  run(_bound, { opts }) {
    const names = (path: string) => Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
    try {
      const families = names(opts.extension_modules).filter((family) =>
        Deno.statSync(`${opts.extension_modules}/${family}`).isDirectory
      );
      return new Map(families.map((family) => [
        family,
        [...new Set(names(`${opts.extension_modules}/${family}`).map((file) => file.split(".", 1)[0]))],
      ]));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return new Map();
      throw error;
    }
  },
});

/** Permissions for the minion's own store of jobs. */
const JOBS_CACHE: Permissions = { read: ["{cachedir}/minion_jobs"], write: ["{cachedir}/minion_jobs"] };

export const clear_job_cache: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the jobs in the minion's job cache (option cache_jobs) that are older than some hours. Returns whether that\n" +
      "worked.",
    "saltutil.clear_job_cache hours=12",
  ),
  permissions: JOBS_CACHE,
  params: { hours: p.float(24) },
  run({ hours }, context) {
    const directory = `${context.opts.cachedir}/minion_jobs`;
    const oldest = Date.now() - hours * 3_600_000;
    try {
      for (const { name } of Deno.readDirSync(directory)) {
        const changed = Deno.statSync(`${directory}/${name}`).mtime?.getTime() ?? 0;
        if (changed < oldest) Deno.removeSync(`${directory}/${name}`, { recursive: true });
      }
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return true;
      context.log("error", `Attempt to clear cache with saltutil.clear_job_cache FAILED with: ${error}`);
      return false;
    }
    return true;
  },
});

export const find_cached_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a job in the minion's job cache (option cache_jobs); None if it cannot be read.",
    "saltutil.find_cached_job <job id>",
  ),
  permissions: JOBS_CACHE,
  params: { jid: p.str() },
  run({ jid }, { opts }) {
    const directory = `${opts.cachedir}/minion_jobs/${jid}`;
    const bytes = /^\w+$/.test(jid) ? readFileIfExists(`${directory}/return.p`) : undefined;
    if (bytes === undefined) {
      return opts.cache_jobs
        ? `Local jobs cache directory ${directory} not found`
        : "Local jobs cache directory not found; you may need to enable cache_jobs on this minion";
    }
    const job = bytes.length === 0 ? null : decode(bytes, "disk");
    return isMap(job) ? job : null;
  },
});

/** Permissions for returns that were too large for the master. */
const KEPT_RETURNS: Permissions = { read: ["{cachedir}/kept_returns"] };

export const kept_returns: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the returns that were too large for the master, the oldest first. This minion keeps their beginning: the\n" +
      "job's id and function, the size of the return, the master's limit, the kept bytes, and the time. At most 16\n" +
      "are kept, a megabyte of each, for a day; nothing is kept of a no_log job. Not in Salt.",
    "saltutil.kept_returns",
  ),
  permissions: KEPT_RETURNS,
  params: {},
  run: (_bound, { opts }) =>
    keptReturns(opts.cachedir).map(({ jid, fun, bytes, limit, sinceMs, beginning }) =>
      map({
        jid,
        fun,
        bytes,
        limit,
        kept: new TextEncoder().encode(beginning).length,
        since: new Date(sinceMs).toISOString(),
      })
    ),
});

export const kept_return: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a part of a return that was too large for the master, as text: `size` bytes from the byte `offset` on, as far as they\n" +
      "are kept, and whole characters. Returns that are no text are kept as JSON. Not in Salt.",
    "saltutil.kept_return <job id>",
    "saltutil.kept_return <job id> offset=16384 size=16384",
  ),
  permissions: KEPT_RETURNS,
  params: { jid: p.str(), offset: p.int(0), size: p.int(16_384) },
  run({ jid, offset, size }, { opts }) {
    const kept = keptReturn(opts.cachedir, jid);
    if (kept === undefined) throw new CommandError(`Nothing is kept of a return of job ${jid}`);
    if (offset < 0 || size < 1) throw new CommandError("offset is to be 0 or more, size 1 or more");
    const bytes = new TextEncoder().encode(kept.beginning);
    return new TextDecoder().decode(bytes.subarray(characterFrom(bytes, offset), characterFrom(bytes, offset + size)));
  },
});

/** The offset at which the first character begins that does so at `offset` or after it: parts of a text join. */
function characterFrom(bytes: Uint8Array, offset: number): number {
  let at = offset;
  while (at < bytes.length && (bytes[at] & 0xc0) === 0x80) at++;
  return at;
}

export const revoke_auth: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Ask the master to delete this minion's key; a key must then be accepted again. With preserve_minion_cache=True, the\n" +
      "master keeps its cached data of the minion. Returns False if the master did not answer, or did not delete it.",
    "saltutil.revoke_auth",
  ),
  params: { preserve_minion_cache: p.bool(false) },
  async run({ preserve_minion_cache }, { opts, outside }) {
    try {
      const answer = await outside.request(map({ cmd: "revoke_auth", id: opts.id, preserve_minion_cache }));
      return answer === true;
    } catch (error) {
      if (error instanceof RequestTimeoutError) return false;
      throw error;
    }
  },
});

/** How long a new pair, and a sign-in at each master, may take, in seconds. */
const ROTATE_S = 120;

export const rotate_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace this minion's key pair. The old key signs that the new one follows it, so no operator accepts it again; the master\n" +
      "refuses the old key as soon as the minion has signed in with the new one. Return the fingerprints of both. Not in Salt:\n" +
      "Python's masters do not take it, and the key stays.",
    "saltutil.rotate_key",
  ),
  params: {},
  run: (_bound, { outside }) =>
    outside.ask({ tag: ROTATE_KEY, data: new Map(), answerTag: KEY_ROTATED, waitS: ROTATE_S }).then((answer) =>
      map({ old: answer.get("old") ?? null, new: answer.get("new") ?? null })
    ),
});

export const regen_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the minion's keys, including its copy of the master's key. New ones are created at the next start of the minion,\n" +
      "and the master must accept them.",
    "saltutil.regen_keys",
  ),
  permissions: { read: ["{pki_dir}"], write: ["{pki_dir}"] },
  params: {},
  run(_bound, { opts }) {
    for (const { name, isFile } of Deno.readDirSync(opts.pki_dir)) {
      if (isFile) Deno.removeSync(`${opts.pki_dir}/${name}`);
    }
    return null;
  },
});
