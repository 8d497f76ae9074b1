/**
 * `salt-minion`: the operating node. Started under the name `salt-call`, it runs one function on this host.
 * @module
 */

import { loadMinionConfig } from "./lib/config.ts";
import { Minion } from "./lib/minion.ts";
import { preflightMinion } from "./lib/preflight.ts";
import { programName } from "./lib/program_name.ts";
import { runService } from "./lib/service_command.ts";

async function main(args: string[]): Promise<number> {
  const program = programName(args, "salt-minion");
  if (program.name === "salt-call") {
    const { runSaltCall } = await import("./lib/salt_call_command.ts");
    return await runSaltCall(program.args);
  }
  return await runService({
    prog: "salt-minion",
    description: "The Salt minion, which obeys its master.",
    role: "minion",
    load: (request) => loadMinionConfig({ ...request, cacheId: true }),
    preflight: preflightMinion,
    start: (opts, log) => Minion.start(opts, log),
  }, program.args);
}

if (import.meta.main) Deno.exit(await main(Deno.args));
