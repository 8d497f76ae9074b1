/**
 * Questions on the terminal, with a hidden answer for a password. Written to standard error, so that results stay
 * apart.
 * @module
 */

import { EX_INTERRUPTED } from "./exit_codes.ts";

/** How a question is asked. */
export interface QuestionOptions {
  /** Whether the terminal hides what is typed. */
  readonly hidden: boolean;
  /** Writes to standard error. */
  write(text: string): void;
}

const LINE_FEED = 0x0a, RETURN = 0x0d, BACKSPACE = 0x08, DELETE = 0x7f, CTRL_C = 0x03, CTRL_D = 0x04, CTRL_U = 0x15;

/** Asks, and returns the answered line without its newline; `undefined` at the end of the input. */
export function askSync(question: string, options: QuestionOptions): string | undefined {
  if (!Deno.stdin.isTerminal()) {
    options.write(question);
    return readLine();
  }
  // Ctrl-C is read as a key: a signal's listener would have to wait for the answer. Set before the question is shown:
  // until then the terminal echoes what is typed, and a program may answer at once.
  Deno.stdin.setRaw(true);
  try {
    options.write(question);
    return readKeys(options);
  } finally {
    Deno.stdin.setRaw(false);
    options.write("\n");
  }
}

function nextByte(): number | undefined {
  const byte = new Uint8Array(1);
  return (Deno.stdin.readSync(byte) ?? 0) === 0 ? undefined : byte[0];
}

function text(bytes: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function readLine(): string | undefined {
  const line: number[] = [];
  for (let byte = nextByte(); byte !== LINE_FEED; byte = nextByte()) {
    if (byte === undefined && line.length === 0) return undefined;
    if (byte === undefined) break;
    line.push(byte);
  }
  return text(line).replace(/\r$/, "");
}

/** Reads a line from a terminal in raw mode: echo and editing are done here. */
function readKeys({ hidden, write }: QuestionOptions): string | undefined {
  let line: number[] = [];
  for (;;) {
    const key = nextByte();
    if (key === LINE_FEED || key === RETURN) return text(line);
    if (key === undefined || key === CTRL_D) return line.length === 0 ? undefined : text(line);
    if (key === CTRL_C) {
      Deno.stdin.setRaw(false);
      write("\n");
      Deno.exit(EX_INTERRUPTED);
    }
    const before = [...text(line)].length;
    if (key === CTRL_U) line = [];
    else if (key === BACKSPACE || key === DELETE) line = withoutLast(line);
    else if (key >= 0x20) line.push(key);
    if (hidden) continue;
    const removed = before - [...text(line)].length;
    if (removed > 0) write("\b \b".repeat(removed));
    else if (key >= 0x20 && !text(line).endsWith("\ufffd")) write([...text(line)].at(-1) ?? "");
  }
}

/** The bytes of UTF-8 without their last character. */
function withoutLast(bytes: readonly number[]): number[] {
  let end = bytes.length - 1;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.slice(0, Math.max(0, end));
}
