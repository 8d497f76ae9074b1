/**
 * Simulates operators who all work at once: each is a process that publishes a job, waits for every return, and
 * publishes the next one, until the time is over. The counterpart of operators.py.
 *
 * Arguments: the master's configuration directory, the target, how many operators, for how many seconds. Writes
 * `{"jobs": …, "seconds": …}`.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { loadClientConfig } from "#lib/config/load.ts";
import { LocalClient } from "#lib/client/local.ts";
import { pingAll } from "./ping_all.ts";
import { benchCommand } from "#tests/bench/harness/sides.ts";

/** The number of jobs of one operator, and the start and end of its work, in milliseconds since the epoch. */
interface Work {
  readonly jobs: number;
  readonly from: number;
  readonly to: number;
}

async function operate(configDir: string, targets: readonly string[], seconds: number): Promise<Work> {
  const { opts } = loadClientConfig({ configDir });
  using client = await LocalClient.connect(opts, { user: callingUser(), log: SILENT_LOGGER });
  const timeouts = { timeoutMs: opts.timeout * 1000, gatherMs: opts.gather_job_timeout * 1000 };
  // All begin together, when the starting process knows that all are ready.
  Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
  await Deno.stdin.read(new Uint8Array(1));
  const from = Date.now();
  let jobs = 0;
  for (const end = from + seconds * 1000; Date.now() < end; jobs++) {
    await pingAll(client, targets[jobs % targets.length], timeouts);
  }
  return { jobs, from, to: Date.now() };
}

/** Starts `count` operators, lets them begin together, and adds up their results. */
async function runOperators(count: number, words: readonly string[]): Promise<{ jobs: number; seconds: number }> {
  const [command, ...args] = benchCommand("programs/operators.ts");
  const children = Array.from({ length: count }, (_, i) =>
    new Deno.Command(command, {
      args: [...args, "--one", String(i), ...words],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn());
  const outputs = children.map((child) => child.stdout.pipeThrough(new TextDecoderStream()).getReader());
  for (const output of outputs) {
    if ((await output.read()).value !== "ready\n") throw new Error("an operator did not start");
  }
  for (const child of children) {
    const writer = child.stdin.getWriter();
    await writer.write(new Uint8Array(1));
    await writer.close();
  }
  const works = await Promise.all(outputs.map(async (output): Promise<Work> => {
    let text = "";
    for (let part = await output.read(); !part.done; part = await output.read()) text += part.value;
    return JSON.parse(text);
  }));
  await Promise.all(children.map((child) => child.status));
  const jobs = works.reduce((sum, work) => sum + work.jobs, 0);
  const ms = Math.max(...works.map(({ to }) => to)) - Math.min(...works.map(({ from }) => from));
  return { jobs, seconds: ms / 1000 };
}

/** The minions `sim-1` … of a swarm in turn, from a different start for each operator; or always `target`. */
function targetsOf(target: string, operator: number): string[] {
  const swarm = /^each of (\d+)$/.exec(target);
  if (swarm === null) return [target];
  const count = Number(swarm[1]);
  return Array.from({ length: count }, (_, i) => `sim-${(i + operator) % count + 1}`);
}

if (import.meta.main) {
  const one = Deno.args[0] === "--one";
  const [configDir, target, count, seconds] = one ? Deno.args.slice(2) : Deno.args;
  const done = one
    ? await operate(configDir, targetsOf(target, Number(Deno.args[1])), Number(seconds))
    : await runOperators(Number(count), Deno.args);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(done)));
  Deno.exit(0);
}
