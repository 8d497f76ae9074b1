/**
 * The process that `salt-ssh` starts on a host: runs one function as `salt-call` does, with the control host as its
 * master. Input and output are the session's: messages of `lib/ssh/messages.ts`. When its input ends, the connection
 * is gone, and the function is ended with all its commands.
 * @module
 */

import { ControlHost } from "./control_host.ts";
import { messageOf } from "#lib/errors.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadMinionConfig } from "#lib/config/load.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { writeAllAsync } from "#lib/os/write_all.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import { CallModules } from "#lib/minion/local_call/modules.ts";
import { runCall } from "#lib/minion/local_call/job.ts";
import { WITHOUT_MASTER } from "#lib/minion/local_call/call_master.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import { type Logger, postingLogger } from "#lib/runtime/log.ts";
import { type HostReturn, packHostMessage, type SshCall } from "#lib/ssh/messages.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/**
 * Runs the function that comes on standard input.
 * @param args The mark of the session, and the directory of the executable.
 * @returns The exit code: 0, whatever the function did; 1 if there was none.
 */
export async function runSshHost([mark, directory]: readonly string[]): Promise<number> {
  await writeAllAsync(Deno.stdout, new TextEncoder().encode(`\n${mark} run now\n`));
  const control = new ControlHost();
  const call = await control.call();
  if (call === undefined) return 1;
  const post = (message: Parameters<typeof packHostMessage>[0]) => control.post(message);
  const log = postingLogger(({ level, name, message }) => post({ what: "log", level, name, message }), call.logLevel);
  try {
    await control.end(await performCall(call, { directory, control, log }));
  } catch (error) {
    // What a function throws is its return; this is the host itself: a full disk, options that cannot be.
    await control.end({ what: "failed", message: messageOf(error) });
    return 1;
  }
  return 0;
}

interface HostSetting {
  readonly directory: string;
  readonly control: ControlHost;
  readonly log: Logger;
}

async function performCall(call: SshCall, { directory, control, log }: HostSetting): Promise<HostReturn> {
  const opts = hostOpts(call, directory, log);
  if (call.syncs) await syncPlugins(call, { opts, control, log });
  const grains = new Map([
    ...await loadGrains(opts, { core: await loadCoreGrains(), warn: log.warning }),
    ...call.grains,
  ]);
  const pillarOf = async (request: ValueMap) => mapOrEmpty(await control.request(request));
  const pillar = await pillarOf(pillarRequest(opts, grains));
  await using modules = new CallModules({ opts, log, grains });
  const outcome = await runCall({ fun: call.fun, arg: call.arg, jid: call.jid, metadata: undefined }, {
    opts,
    grains,
    modules,
    master: {
      ...WITHOUT_MASTER,
      pillar,
      freshPillar: (query) => pillarOf(pillarRequest(opts, grains, query)),
      request: (load) => control.request(load),
    },
    log,
    signal: control.signal,
    // The one who asks has the pillar itself.
    showsPillar: true,
  });
  const { return: value, retcode, out, errorDetails } = outcome;
  return {
    what: "outcome",
    return: value,
    retcode,
    ...out !== undefined && { out },
    ...errorDetails !== undefined && { errorDetails },
  };
}

/** Options that a roster cannot set: where everything is, and that files and pillar come over the connection. */
function fixedOpts({ id }: SshCall, directory: string): ValueMap {
  return map({
    root_dir: `${directory}/running_data`,
    id,
    file_client: "remote",
    log_level_logfile: "quiet",
    fileserver_list_cache_time: 3,
  });
}

/**
 * The options of the minion here. They are a file, whose paths are seen from `root_dir` as in any configuration; each
 * id has its own, because a host may have several names in a roster.
 */
function hostOpts(call: SshCall, directory: string, log: Logger): MinionOpts {
  const written = new Map([...map({ log_file: "salt-call.log" }), ...call.minionOpts, ...fixedOpts(call, directory)]);
  const configDir = `${directory}/conf/${call.id}`;
  Deno.mkdirSync(configDir, { recursive: true, mode: 0o700 });
  writeFileAtomic(`${configDir}/minion`, dumpYaml(written), { mode: 0o600 });
  const { opts, warnings } = loadMinionConfig({ configDir, cacheId: false });
  for (const warning of warnings) log.named("salt.config").warning(warning);
  for (const path of [opts.cachedir, opts.sock_dir]) Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  return opts;
}

/** Fetches the operator's own plugins (`_modules`, …) before any of them is looked for. */
async function syncPlugins(
  call: SshCall,
  { opts, control, log }: { readonly opts: MinionOpts; readonly control: ControlHost; readonly log: Logger },
): Promise<void> {
  await using modules = new CallModules({ opts, log });
  const host = {
    opts,
    grains: new Map(),
    modules,
    master: { ...WITHOUT_MASTER, request: (load: ValueMap) => control.request(load) },
    log,
    signal: control.signal,
  };
  const arg = [map({ __kwarg__: true, refresh: false })];
  const { success, return: said } = await runCall(
    { fun: "saltutil.sync_all", arg, jid: call.jid, metadata: undefined },
    host,
  );
  if (!success) log.warning(`The plugins of the file roots are not synced: ${String(said)}`);
}
