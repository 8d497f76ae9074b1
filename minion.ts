/**
 * `salt-minion`: the operating node. Started under the name `salt-call`, it runs one function on this host. Each is
 * imported only when it is the one that was started.
 * @module
 */

import { writeError } from "#lib/commands/cli/process_io.ts";
import { EX_USAGE } from "#lib/runtime/sysexits.ts";
import { programName, unknownNameText } from "#lib/commands/cli/program_name.ts";
import { nameProcess } from "#lib/runtime/process_name.ts";
import { ENGINE_PROCESS } from "#lib/runtime/self_command.ts";

async function runMinion(args: readonly string[]): Promise<number> {
  const [{ runService }, { SALT_MINION }, { loadMinionConfig }, { preflightMinion }, { Minion }] = await Promise.all([
    import("#lib/commands/daemons/service.ts"),
    import("#lib/commands/daemons/service_options.ts"),
    import("#lib/config/load.ts"),
    import("#lib/commands/daemons/preflight.ts"),
    import("#lib/minion/agent/minion.ts"),
  ]);
  return await runService({
    command: SALT_MINION,
    role: "minion",
    load: (request) => loadMinionConfig({ ...request, cacheId: true }),
    preflight: preflightMinion,
    start: (opts, log) => Minion.start(opts, log),
  }, args);
}

async function main(): Promise<number> {
  const { name, args } = programName(Deno.args, "salt-minion");
  nameProcess(name, args);
  if (name === "salt-module-process") {
    // Not a command: what the minion runs its operator's own modules in.
    const { runModulePump } = await import("#lib/minion/worker/module_pump.ts");
    return await runModulePump();
  }
  if (name === "salt-keeper") {
    // Not a command either: what the minion runs the commands of its jobs in.
    const { runCommandKeeper } = await import("#lib/minion/keeper/command_keeper.ts");
    const [cachedir, socket] = args;
    return await runCommandKeeper({ cachedir, socket });
  }
  if (name === "salt-minion-pillar") {
    // Nor is this: what compiles the pillar of a minion with `file_client: local`.
    const { runOwnPillarProcess } = await import("#lib/minion/local_call/pillar_process.ts");
    return await runOwnPillarProcess();
  }
  if (name === ENGINE_PROCESS) {
    // Nor this: what an engine runs in.
    const { runEngine } = await import("#modules/engines/_process.ts");
    const inPython = async () => (await import("#lib/minion/local_call/python_engine.ts")).runPythonEngine;
    return await runEngine(async (init, parts) => await (await inPython())(init, parts));
  }
  if (name === "salt-ssh-host") {
    // Nor this: what salt-ssh starts on a host.
    const { runSshHost } = await import("#lib/minion/ssh_host/ssh_host.ts");
    return await runSshHost(args);
  }
  if (name === "salt-minion") return await runMinion(args);
  if (name !== "salt-call") {
    writeError(unknownNameText(name, ["salt-minion", "salt-call"]));
    return EX_USAGE;
  }
  const { saltCallProcess } = await import("#lib/commands/programs/salt_call_process.ts");
  return await saltCallProcess({ name, args });
}

if (import.meta.main) Deno.exit(await main());
