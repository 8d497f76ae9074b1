/**
 * `salt-master`: the control node. Each is imported only when it is the one that was started.
 * @module
 */

import { AUTH_PROCESS } from "#lib/auth/auth_messages.ts";
import { EX_USAGE } from "#lib/runtime/sysexits.ts";
import { writeError, writeOut } from "#lib/commands/cli/process_io.ts";
import { programName, unknownNameText } from "#lib/commands/cli/program_name.ts";
import { ENGINE_PROCESS, FUNCTION_PROCESS, PILLAR_PROCESS, REACTOR_PROCESS } from "#lib/runtime/self_command.ts";
import { nameProcess } from "#lib/runtime/process_name.ts";

async function runMaster(args: readonly string[]): Promise<number> {
  const [{ runService }, { SALT_MASTER }, { loadMasterConfig }, { preflightMaster }, { Master }] = await Promise.all([
    import("#lib/commands/daemons/service.ts"),
    import("#lib/commands/daemons/service_options.ts"),
    import("#lib/config/load.ts"),
    import("#lib/commands/daemons/preflight.ts"),
    import("#lib/master/daemon/master.ts"),
  ]);
  return await runService({
    command: SALT_MASTER,
    role: "master",
    load: loadMasterConfig,
    preflight: preflightMaster,
    async start(opts, log) {
      const master = await Master.start(opts, log);
      if (!opts.salt_console) return master;
      const { withConsole } = await import("#lib/api/server/console_service.ts");
      return withConsole(master, { opts, log, say: writeOut });
    },
    // Whatever a master makes is its own: the odd file that others may read gets its mode when it is made.
    umask: 0o077,
  }, args);
}

async function main(): Promise<number> {
  const { name, args } = programName(Deno.args, "salt-master");
  nameProcess(name, args);
  if (name === AUTH_PROCESS) {
    // Not a command: what the master asks PAM and LDAP in.
    const { runAuthProcess } = await import("#lib/auth/run_auth_process.ts");
    return await runAuthProcess();
  }
  if (name === FUNCTION_PROCESS) {
    // Not a command either: what the master runs functions of runners and wheel modules in.
    const { runMasterFunction } = await import("#lib/master/processes/master_function.ts");
    return await runMasterFunction();
  }
  if (name === PILLAR_PROCESS) {
    // Nor this: what the master compiles minions' pillars in.
    const { runPillarProcess } = await import("#lib/master/processes/pillar_process.ts");
    return await runPillarProcess();
  }
  if (name === REACTOR_PROCESS) {
    // Nor this: what the reactor's files are rendered in.
    const { runReactorRendering } = await import("#lib/master/reactor/render_process.ts");
    return await runReactorRendering();
  }
  if (name === ENGINE_PROCESS) {
    // Nor this: what an engine runs in.
    const { runEngine } = await import("#modules/engines/_process.ts");
    const inPython = async () => (await import("#lib/master/processes/master_engine.ts")).runMasterEngine;
    return await runEngine(async (init, parts) => await (await inPython())(init, parts));
  }
  if (name === "salt-master") return await runMaster(args);
  if (name === "salt-syndic") {
    const { runSaltSyndic } = await import("#lib/syndic/salt_syndic.ts");
    return await runSaltSyndic(args);
  }
  writeError(unknownNameText(name, ["salt-master", "salt-syndic"]));
  return EX_USAGE;
}

if (import.meta.main) Deno.exit(await main());
