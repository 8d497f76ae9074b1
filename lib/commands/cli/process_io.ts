/**
 * Standard input, output and Ctrl-C of this process, as the commands ask for them. Entries use it; tests replace it.
 * @module
 */

import type { CommandIo, JobIo } from "./run_command.ts";
import { abortOnSignals } from "#lib/runtime/interrupts.ts";
import { writeAll } from "#lib/os/write_all.ts";

const encoder = new TextEncoder();

/** Outputs whose reader has gone (`salt … | head`): further output to them is dropped. */
const gone = new Set<unknown>();

function writeTo(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  if (gone.has(stream)) return;
  const bytes = encoder.encode(text);
  try {
    writeAll(stream, bytes);
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    gone.add(stream);
  }
}

/** Writes to standard output. */
export function writeOut(text: string): void {
  writeTo(Deno.stdout, text);
}

/** Whether the reader of standard output was gone at the last write. */
export function outputGone(): boolean {
  return gone.has(Deno.stdout);
}

/** Writes to standard error. */
export function writeError(text: string): void {
  writeTo(Deno.stderr, text);
}

/** The width of the terminal, or what `COLUMNS` says instead; `undefined` where there is neither. */
export function terminalColumns(): number | undefined {
  const value = Deno.env.get("COLUMNS") ?? "";
  if (/^[1-9]\d{0,4}$/.test(value)) return Number(value);
  return Deno.stdout.isTerminal() ? Deno.consoleSize().columns : undefined;
}

/** All of standard input as text. */
export async function readStdin(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

/** Shows `prompt` and reads one line, without its end; `undefined` at the end of the input. */
export function readLine(prompt: string): Promise<string | undefined> {
  writeOut(prompt);
  const line: number[] = [];
  const byte = new Uint8Array(1);
  // Byte by byte: what follows the line is the answer to the next question.
  for (;;) {
    const read = Deno.stdin.readSync(byte);
    if (read === null || read === 0) {
      if (line.length === 0) return Promise.resolve(undefined);
      break;
    }
    if (byte[0] === 0x0a) break;
    line.push(byte[0]);
  }
  return Promise.resolve(new TextDecoder().decode(Uint8Array.from(line)).replace(/\r$/, ""));
}

/** A signal that the first Ctrl-C or SIGTERM aborts; the second ends the process at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  abortOnSignals(controller, ["SIGINT", "SIGTERM"]);
  return controller.signal;
}

/** The input and output of this process for a command that prints results. */
export function commandIo(): CommandIo {
  const isDumb = Deno.env.get("TERM") === "dumb";
  return {
    write: writeOut,
    writeError,
    isTerminal: Deno.stdout.isTerminal(),
    isErrorTerminal: Deno.stderr.isTerminal(),
    columns: terminalColumns(),
    noColor: Deno.env.get("NO_COLOR") || (isDumb ? "dumb" : undefined),
    isDumb,
  };
}

/**
 * Asks on the terminal.
 * @returns The answer; `undefined` at the end of the input.
 */
export async function ask(question: string, { hidden }: { readonly hidden: boolean }): Promise<string | undefined> {
  return (await import("./prompt.ts")).askSync(question, { hidden, write: writeError });
}

/**
 * The input and output of this process for a command that runs functions. From now on the command handles Ctrl-C and
 * SIGTERM.
 */
export function jobIo(): JobIo {
  return {
    ...commandIo(),
    readStdin,
    ask,
    signal: interruptSignal(),
  };
}
