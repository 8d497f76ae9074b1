/**
 * Execution module `minion`: the minions of a master on this host, and the end and start of this one.
 * Source: the functions of Salt 3008.3 `salt/modules/minion.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isOffline } from "#lib/host/services/systemd.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { sleep } from "#lib/os/sleep.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { startDetached } from "#lib/runtime/daemon.ts";
import { selfCommand } from "#lib/runtime/self_command.ts";
import { EX_SOFTWARE, EX_TEMPFAIL } from "#lib/runtime/sysexits.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { asList, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The directories of a master's keys, below its `pki_dir`. */
const KEY_DIRECTORIES = ["minions", "minions_pre", "minions_rejected", "minions_denied"];

function keysIn(directory: string): string[] {
  try {
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name);
    const keys = names.filter((name) => !name.startsWith(".") && isFile(`${directory}/${name}`));
    const lower = (name: string) => name.toLowerCase();
    return keys.sort().sort((a, b) => lower(a) < lower(b) ? -1 : Number(lower(a) > lower(b)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the accepted, pending, rejected and denied keys of the master on this host, as `salt-key -L`.",
    "minion.list",
  ),
  permissions: "all",
  params: {},
  run(_, { opts }) {
    const pki = opts.pki_dir.replaceAll("minion", "master");
    return new Map(KEY_DIRECTORIES.map((name): [Value, Value] => [name, keysIn(`${pki}/${name}`)]));
  },
});

/** Ends this minion: `killed`, `retcode`, `comment`. */
async function killMinion(timeout: number, context: JobContext): Promise<ValueMap> {
  const ended = (killed: Value, retcode: number, ...comment: readonly string[]) =>
    map({ killed, retcode, ...comment.length > 0 && { comment } });
  const pid = context.grains.get("pid") ?? null;
  if (!truthy(pid)) return ended(null, EX_SOFTWARE, 'Unable to find "pid" in grains');
  const signal = async () => truthy(await context.call("ps.kill_pid", [pid]));
  if (!await signal()) return ended(null, 1, "ps.kill_pid failed");
  for (let tries = 0; tries < timeout; tries++) {
    await sleep(1000, context.signal);
    if (!await signal()) return ended(pid, 0);
  }
  return ended(null, EX_TEMPFAIL, "Timed out waiting for minion to exit");
}

/** Ends the process $1 when the return of the job has had time to go out; when it has ended, runs the other words. */
const SUCCESSION = `pid=$1; shift; sleep 1; kill "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
[ $# -eq 0 ] || exec "$@"`;

/** The id of the minion's process if this job is a thread of it, and so ends with it. */
function ownProcess({ grains }: JobContext): number | undefined {
  return grains.get("pid") === Deno.pid ? Deno.pid : undefined;
}

/** Has another process end this one, and run a command afterwards. */
function endLater(pid: number, words: readonly string[]): void {
  startDetached(["-c", SUCCESSION, "sh", String(pid), ...words], {}, { command: "/bin/sh", args: [] });
}

export const kill: ModuleFunction<JobContext> = fn({
  doc: describe(
    "End the minion. Return its process id in `killed`, and in `retcode` 0 if that is done: a second after the return, as the\n" +
      "job is a thread of it.",
    "minion.kill",
  ),
  permissions: "all",
  params: { timeout: p.int(15) },
  run({ timeout }, context) {
    const own = ownProcess(context);
    if (own === undefined) return killMinion(timeout, context);
    endLater(own, []);
    return map({ killed: own, retcode: 0 });
  },
});

function hasSystemd({ grains }: JobContext): boolean {
  return grains.get("kernel") === "Linux" && which("systemctl") !== undefined && !isOffline();
}

/** Has systemd start the minion after a while, if it does not run then. */
async function scheduleRetry(delay: Value, context: JobContext): Promise<string> {
  const seconds = toNumber(delay);
  if (seconds === undefined || !/^\s*[+-]?\d+\s*$/.test(str(delay))) {
    throw new CommandError(`Invalid retry_delay value: ${str(delay)}. Must be a number of seconds.`);
  }
  const command = "systemctl is-active salt-minion || systemctl start salt-minion";
  const words = [requireProgram("systemd-run"), `--on-active=${seconds}`, "/bin/sh", "-c", command];
  const { retcode, stderr } = await runProgram(words, context, { setsRetcode: true });
  if (retcode !== 0) throw new CommandError(stderr);
  return stderr;
}

/** Restarts the service of the minion; `comment` gets what was done. */
async function restartService(
  { retries, delay, comment }: { readonly retries: boolean; readonly delay: Value; readonly comment: string[] },
  context: JobContext,
): Promise<ValueMap> {
  const service: ValueMap = new Map();
  let failure = "Service restart failed";
  try {
    if (retries) {
      failure = "Adding scheduled retry failed";
      const retry: ValueMap = new Map();
      service.set("schedule_retry", retry);
      retry.set("detail", await scheduleRetry(delay, context)).set("delay", delay);
      failure = "Service restart failed";
      comment.push(`Scheduled retry for minion restart in ${str(delay)} seconds`);
    }
    service.set("result", await context.call("service.restart", ["salt-minion"], map({ no_block: true })));
    comment.push("Service restart successful");
    return map({ service_restart: service, retcode: 0 });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    comment.push(failure);
    service.set("result", false).set("stderr", error.message);
    return map({ service_restart: service, retcode: EX_SOFTWARE });
  }
}

/** Starts the minion again with a command: `restart`, and `retcode` if it failed. */
async function runRestart(command: Value, comment: string[], context: JobContext): Promise<ValueMap> {
  const restarted = mapOrEmpty(await context.call("cmd.run_all", [command]));
  const retcode = restarted.get("retcode") ?? 0;
  const shown = new Map([...restarted].filter(([key]) => key !== "pid" && key !== "retcode"));
  if (!truthy(retcode)) return map({ restart: shown });
  comment.push("Restart failed");
  return map({ restart: shown, retcode });
}

export const restart: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Restart the minion: with the option minion_restart_command; else by systemd, unless systemd=False; else it is ended, and " +
      "started again if it runs in the background. schedule_retry=True has systemd start it after retry_delay seconds " +
      "if it does not run then. win_service has no effect.",
    "minion.restart",
  ),
  permissions: "all",
  params: {
    systemd: p.bool(true),
    win_service: p.bool(true),
    schedule_retry: p.bool(false),
    retry_delay: p.any(180),
  },
  async run({ systemd, schedule_retry, retry_delay }, context) {
    const comment: string[] = [];
    const result = map({ killed: null, restart: {}, service_restart: {}, retcode: 0 });
    const add = (more: ValueMap) => more.forEach((value, key) => result.set(key, value));
    const indented = (words: Value) => asList(words).map((word) => `    ${str(word)}`);
    const set = await context.call("config.get", ["minion_restart_command"]);
    const isSet = truthy(set);
    if (!isSet && systemd && hasSystemd(context)) {
      comment.push("Using systemctl to restart salt-minion");
      add(await restartService({ retries: schedule_retry, delay: retry_delay, comment }, context));
      return result.set("comment", comment);
    }
    let command: Value = set;
    if (isSet) comment.push("Using configuration minion_restart_command:", ...indented(command));
    else if (Deno.args.some((word) => word === "-d" || word === "--daemon")) {
      const own = selfCommand();
      command = [own.command, ...own.args, ...Deno.args];
      comment.push("Restart using process argv:", ...indented(command));
    } else comment.push("Not running in daemon mode - will not restart process after killing");
    const pid = ownProcess(context);
    if (pid !== undefined) {
      endLater(pid, typeof command === "string" ? shlexSplit(command) : listOrEmpty(command).map(str));
      return result.set("killed", pid).set("comment", comment);
    }
    add(await killMinion(15, context));
    comment.push(...listOrEmpty(result.get("comment")).map(str));
    if (truthy(result.get("retcode"))) comment.push("Kill failed - not restarting");
    else if (truthy(command)) add(await runRestart(command, comment, context));
    return result.set("comment", comment);
  },
});
