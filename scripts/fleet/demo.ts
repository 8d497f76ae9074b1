/**
 * `deno task demo`: a master and two minions on this machine, and an operator's first commands, each shown with its
 * real output. With `--console`: three minions, some states, and the web console until Ctrl-C.
 * @module
 */

import { stripVTControlCharacters } from "node:util";
import { DemoError, DemoFleet } from "./demo_fleet.ts";
import { writeError, writeOut as say } from "#lib/commands/cli/process_io.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task demo [options]

  --console    The web console, a third minion and some states to try, until Ctrl-C.
  --keep       Leave the fleet running; say how to use and how to stop it.
  --dist DIR   Run the executables in DIR, as deno task build made them, instead of the sources.
  --root DIR   Where the fleet's files go. Default: .demo in the project's directory.
`;

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** One command of the operator. */
interface Step {
  /** Its purpose. */
  readonly about: string;
  readonly command: readonly string[];
  /** A pattern that its output must match. */
  readonly expect: RegExp;
}

const BEFORE: readonly Step[] = [
  { about: "Whose keys are there?", command: ["salt-key"], expect: /Unaccepted Keys:\s+db1\s+web1/ },
  { about: "Accept them.", command: ["salt-key", "-A", "-y"], expect: /Key for minion web1 accepted/ },
];

const AFTER: readonly Step[] = [
  { about: "Is everybody there?", command: ["salt", "*", "test.ping"], expect: /^(?=[^]*db1:\s+True)[^]*web1:\s+True/ },
  { about: "Run a command on some.", command: ["salt", "web*", "cmd.run", "uname -sr"], expect: /^web1:\s+\S/ },
  { about: "What was run?", command: ["salt-run", "jobs.list_jobs"], expect: /- uname -sr\s+Function:\s+cmd\.run/ },
];

async function main(argv: string[]): Promise<number> {
  const { values: options } = parseOptions({
    args: argv,
    options: {
      console: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      dist: { type: "string" },
      root: { type: "string", default: `${ROOT}/.demo` },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (options.help) return say(USAGE), 0;

  const stop = new AbortController();
  const interrupt = () => stop.abort(new DemoError("interrupted"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, interrupt);

  const started = performance.now();
  const fleet = await DemoFleet.make({
    root: options.root,
    dist: options.dist,
    project: ROOT,
    console: options.console,
  });
  let keep = false;
  try {
    const names = options.console ? "web1, web2 and db1" : "web1 and db1";
    say(`A master and the minions ${names}, on 127.0.0.1, below ${fleet.shownRoot}${fleet.note}\n`);
    await fleet.start(stop.signal);
    await fleet.keysPending(stop.signal);
    if (fleet.console !== undefined) {
      await showConsole(fleet, fleet.console, stop.signal);
      return 0;
    }
    for (const step of BEFORE) await show(fleet, step, stop.signal);
    await fleet.signedIn(stop.signal);
    for (const step of AFTER) await show(fleet, step, stop.signal);
    keep = options.keep;
  } catch (error) {
    if (!(error instanceof DemoError)) throw error;
    writeError(`\ndemo: ${error.message}\n${stop.signal.aborted ? "" : fleet.lastWords()}`);
    return 1;
  } finally {
    if (!keep) await fleet.stop();
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  say(keep ? fleet.farewell() : `\n${bold("Done")} in ${seconds} s; everything is stopped.\n`);
  return 0;
}

/** Accepts the keys, says where the console is, and waits for Ctrl-C. */
async function showConsole(
  fleet: DemoFleet,
  { address, user }: NonNullable<DemoFleet["console"]>,
  signal: AbortSignal,
): Promise<void> {
  const { code, output } = await fleet.run(["salt-key", "-A", "-y"], signal);
  if (code !== 0) throw new DemoError(`salt-key ended with exit code ${code}: ${output}`);
  await fleet.signedIn(signal);
  say(`
${bold("The web console:")} ${address}
  user      ${user.name}
  password  ${user.password}
  log-in    file

To try: States, plan the states of web*; Run, cmd.run on all; Jobs, the output of both.
Ctrl-C stops all of it.
`);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  say("\nStopping.\n");
}

/**
 * Runs a step and shows it as a terminal would. A minion that has signed in may still be connecting to the publisher,
 * so a step with a missing answer runs once more.
 * @throws {DemoError} If its output is wrong.
 */
async function show(fleet: DemoFleet, { about, command, expect }: Step, signal: AbortSignal): Promise<void> {
  say(`\n${bold(`# ${about}`)}\n${bold(`$ ${command.map(quote).join(" ")}`)}\n`);
  const colour = colours ? ["--force-color"] : [];
  const words = [command[0], ...colour, ...command.slice(1)];
  let result = await fleet.run(words, signal);
  if (result.code === 1) result = await fleet.run(words, signal);
  say(result.output);
  if (result.code !== 0) throw new DemoError(`${command[0]} ended with exit code ${result.code}`);
  if (!expect.test(stripVTControlCharacters(result.output))) {
    throw new DemoError(`that is not what ${command[0]} should have answered`);
  }
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

const colours = Deno.stdout.isTerminal() && !Deno.env.get("NO_COLOR");

function bold(text: string): string {
  return colours ? `\x1b[1m${text}\x1b[0m` : text;
}

if (import.meta.main) await runScript(main, { name: "demo", failures: [DemoError] });
