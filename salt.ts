/**
 * The operator's commands on the master's host: `salt`, and under their own names `salt-key`, `salt-run`,
 * `salt-cp`, `salt-api` and `salt-ssh`.
 * Each is imported only when it is the one that was started, and has something to do.
 * @module
 */

import type { EventData } from "#lib/bus/event.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import * as process from "#lib/commands/cli/process_io.ts";
import { EX_USAGE } from "#lib/runtime/sysexits.ts";
import { programName, unknownNameText } from "#lib/commands/cli/program_name.ts";
import { runSalt } from "#lib/commands/programs/salt.ts";
import { nameProcess } from "#lib/runtime/process_name.ts";
import { SSH_CLIENT_PROCESS, SSH_PILLAR_PROCESS } from "#lib/runtime/self_command.ts";
import { reportUnexpected } from "#lib/commands/cli/unexpected_error.ts";

/**
 * Fires an event on the master's bus; most runs of `salt-key` have none to fire, and load no sockets.
 * @returns Whether one runs.
 */
async function fire(tag: string, data: EventData, { sock_dir }: MasterOpts): Promise<boolean> {
  const [{ fireEvent }, { masterBus }] = await Promise.all([
    import("#lib/bus/fire.ts"),
    import("#lib/bus/paths.ts"),
  ]);
  return await fireEvent(masterBus(sock_dir), tag, data);
}

/** Tells a process in the background which batch job it runs. */
const BATCH_VARIABLE = "SALT_BATCH_JID";

/** Starts `salt` in the background, to run the batch job `jid`. */
async function startBatch(words: readonly string[], { user, jid }: { user: string; jid: string }): Promise<void> {
  const [{ startDetached }, { CALLER_VARIABLE }] = await Promise.all([
    import("#lib/runtime/daemon.ts"),
    import("#lib/commands/cli/calling_user.ts"),
  ]);
  startDetached(["--as", "salt", ...words], { [CALLER_VARIABLE]: user, [BATCH_VARIABLE]: jid });
}

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  // Its command line is read with what is loaded anyway: an `import()` more would take 3 ms.
  "salt": (args) =>
    runSalt(args, {
      ...process.jobIo(),
      startBatch,
      batchJid: Deno.env.get(BATCH_VARIABLE),
    }),
  "salt-key": async (args) => {
    const { runSaltKey } = await import("#lib/commands/programs/salt_key.ts");
    return await runSaltKey(args, {
      ...process.commandIo(),
      ask: process.ask,
      readLine: process.readLine,
      fire: async (...event) => void await fire(...event),
    });
  },
  "salt-run": async (args) => {
    const [{ runSaltRun }, { localCommands }, { startDetached }, { CALLER_VARIABLE }] = await Promise.all([
      import("#lib/commands/programs/salt_run.ts"),
      import("#lib/client/runner_local.ts"),
      import("#lib/runtime/daemon.ts"),
      import("#lib/commands/cli/calling_user.ts"),
    ]);
    return await runSaltRun(args, {
      ...process.jobIo(),
      outputGone: process.outputGone,
      fire,
      local: localCommands,
      startDetached: (words, user) => void startDetached(["--as", "salt-run", ...words], { [CALLER_VARIABLE]: user }),
    });
  },
  "salt-api": async (args) => {
    const { runSaltApi } = await import("#lib/api/server/salt_api.ts");
    return await runSaltApi(args);
  },
  "salt-cp": async (args) => {
    const { runSaltCp } = await import("#lib/commands/programs/salt_cp.ts");
    return await runSaltCp(args, process.jobIo());
  },
  "salt-ssh": async (args) => {
    const { runSaltSsh } = await import("#lib/commands/ssh/salt_ssh.ts");
    return await runSaltSsh(args, process.jobIo());
  },
};

async function main(): Promise<number> {
  const { name, args } = programName(Deno.args, "salt");
  if (name === SSH_CLIENT_PROCESS) {
    // Not a command: what the runner ssh runs functions on hosts in.
    const { runSshClient } = await import("#lib/commands/ssh/ssh_client.ts");
    return await runSshClient();
  }
  if (name === SSH_PILLAR_PROCESS) {
    // Nor this: what salt-ssh and salt-api compile the pillars of hosts in.
    const { runHostPillarProcess } = await import("#lib/commands/ssh/host_pillars.ts");
    return await runHostPillarProcess();
  }
  // Salt has more programs, and a link to this one must not act as another.
  if (!Object.hasOwn(COMMANDS, name)) {
    process.writeError(unknownNameText(name, Object.keys(COMMANDS)));
    return EX_USAGE;
  }
  nameProcess(name, args);
  return await reportUnexpected({ name, args, writeError: process.writeError }, COMMANDS[name]);
}

if (import.meta.main) Deno.exit(await main());
