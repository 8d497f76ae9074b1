/**
 * The operator's commands on the master's host: `salt`, and under their own names `salt-key` and `salt-run`. Each is
 * imported only when it is the one that was started.
 * @module
 */

import { fireEvent } from "./lib/fire_event.ts";
import * as process from "./lib/process_io.ts";
import { programName } from "./lib/program_name.ts";

/** What every command is given of this process. */
const IO = {
  write: process.writeOut,
  writeError: process.writeError,
  isTerminal: Deno.stdout.isTerminal(),
  noColor: Deno.env.get("NO_COLOR"),
  readStdin: process.readStdin,
};

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  "salt": async (args) => {
    const { runSalt } = await import("./lib/salt_command.ts");
    const isErrorTerminal = Deno.stderr.isTerminal();
    const columns = process.terminalColumns();
    return await runSalt(args, { ...IO, isErrorTerminal, columns, signal: process.interruptSignal() });
  },
  "salt-key": async (args) => {
    const [{ runSaltKey }, { masterBus }] = await Promise.all([
      import("./lib/salt_key_command.ts"),
      import("./lib/event_bus.ts"),
    ]);
    return await runSaltKey(args, {
      ...IO,
      readLine: process.readLine,
      fire: async (tag, data, { sock_dir }) => void await fireEvent(masterBus(sock_dir), tag, data),
    });
  },
  "salt-run": async (args) => {
    const [{ runSaltRun }, { masterBus }, { localCommands }, { startDetached }] = await Promise.all([
      import("./lib/salt_run_command.ts"),
      import("./lib/event_bus.ts"),
      import("./lib/local_commands.ts"),
      import("./lib/detached.ts"),
    ]);
    return await runSaltRun(args, {
      ...IO,
      fire: async (tag, data, { sock_dir }) => void await fireEvent(masterBus(sock_dir), tag, data),
      local: localCommands,
      startDetached: (words) => void startDetached(["--as", "salt-run", ...words]),
      signal: process.interruptSignal(),
    });
  },
};

async function main(): Promise<number> {
  const { name, args } = programName(Deno.args, "salt");
  // An executable may be called anything: what is no name of ours is `salt` itself.
  const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : COMMANDS["salt"];
  return await run(args);
}

if (import.meta.main) Deno.exit(await main());
