/**
 * An operator's command as a process, on a fleet in this process: its output with times, and its exit code.
 * @module
 */

import type { Fleet, Run } from "./fleet.ts";

/** A line of standard output, and the time when it was received. */
export interface TimedLine {
  /** Without its newline. */
  readonly text: string;
  /** In milliseconds since the epoch. */
  readonly atMs: number;
}

/** A running command. */
export interface CliProcess {
  readonly child: Deno.ChildProcess;
  /** The lines of standard output received so far. */
  readonly lines: readonly TimedLine[];
  /** Resolves when it has ended. */
  readonly ended: Promise<Run>;
}

/** Starts one of the commands of `salt.ts` with these arguments on a fleet. */
export function startCli(fleet: Fleet, name: "salt" | "salt-run", ...words: readonly string[]): CliProcess {
  const entry = new URL("../../../salt.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", entry, "--as", name, "-c", fleet.configDir, ...words],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines: TimedLine[] = [];
  const end = async (): Promise<Run> => {
    const [out, err, { code }] = await Promise.all([
      read(child.stdout, (text) => lines.push({ text, atMs: Date.now() })),
      new Response(child.stderr).text(),
      child.status,
    ]);
    return { code, out, err };
  };
  return { child, lines, ended: end() };
}

async function read(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<string> {
  let all = "", rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    all += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onLine);
  }
  return all;
}
