/**
 * Formats live output as lines: each complete line with its minion's name in front and control characters made visible.
 * A line is shown when it ends; a carriage return ends a line too, so that progress bars are shown. The beginning of an
 * unfinished line, such as a question, is shown after a while: "Continue? …". Other rests are shown when the command
 * has ended, or another command of the job begins. Knows no jobs and no files.
 * @module
 */

import { mapOf } from "#lib/values/dict.ts";
import type { LivePart, LiveText } from "#lib/protocol/live_batch.ts";
import { colours, sanitizeLine } from "#lib/text/terminal.ts";
import { rstrip } from "#lib/values/python_text.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Options of {@linkcode LiveLines}. */
export interface LiveLinesOptions {
  /** Called with each line, with its newline. */
  write(text: string): void;
  /** Whether to use Salt's colours. */
  readonly color: boolean;
  /** Whether texts of several lines that were shown live are left out of the return ({@linkcode LiveLines.end}). */
  readonly omitShown: boolean;
  /** Time until the beginning of an unfinished line is shown, in milliseconds. Default: a second. */
  readonly unfinishedMs?: number;
}

/** Default time until the beginning of an unfinished line is shown, in milliseconds. */
const UNFINISHED_MS = 1_000;
/** Maximum characters of shown text that are kept in memory, for all minions together. */
const MAX_SHOWN = 16 * 2 ** 20;
/** Maximum characters of a line; longer lines are shown in parts. */
const MAX_LINE = 65_536;

interface Stream {
  readonly id: string;
  readonly stream: LiveText["stream"];
  /** The part of the current line that is not shown yet. */
  rest: string;
  /** Whether the beginning of the current line has been shown. */
  begun: boolean;
  /** Shows the unfinished line. */
  timer: Timer | undefined;
  /** The output of its command. */
  readonly command: Written;
}

/** The output of one command, in order; empty if a part is missing or it is too much. */
interface Written {
  texts: { readonly stream: LiveText["stream"]; readonly text: string }[];
  isWhole: boolean;
}

/** The lines of one job's minions. Must be disposed of, because unfinished lines have timers. */
export class LiveLines implements Disposable {
  readonly #options: LiveLinesOptions;
  /** By minion, then by number of the command and stream. */
  readonly #streams = new Map<string, Map<string, Stream>>();
  #remembered = 0;

  constructor(options: LiveLinesOptions) {
    this.#options = options;
  }

  /** Shows output of minion `id`. */
  show(id: string, parts: readonly LivePart[]): void {
    const streams = this.#streams.get(id) ?? new Map<string, Stream>();
    this.#streams.set(id, streams);
    for (const part of parts) {
      if ("leftOut" in part) {
        for (const stream of streams.values()) {
          this.#endLine(stream);
          this.#forget(stream.command);
        }
        const what = part.leftOut === 1 ? "1 line" : `${part.leftOut} lines`;
        this.#write(id, "stdout", `… ${what} left out`);
        continue;
      }
      this.#take(this.#stream(streams, id, part), part.text);
    }
  }

  /**
   * Minion `id` has returned `value`: shows its unfinished lines.
   * @returns The return to show: with `omitShown`, without texts that were shown live.
   */
  end(id: string, value: Value): Value {
    const streams = this.#streams.get(id);
    if (streams === undefined) return value;
    this.#streams.delete(id);
    for (const stream of streams.values()) this.#endLine(stream);
    const above = new Set<string>();
    for (const command of new Set([...streams.values()].map(({ command }) => command))) {
      for (const lines of command.isWhole ? returnsOf(command) : []) above.add(lines).add(rstrip(lines));
      this.#forget(command);
    }
    return this.#options.omitShown ? withoutShown(value, above) : value;
  }

  #stream(streams: Map<string, Stream>, id: string, { command, stream }: LiveText): Stream {
    const name = `${command} ${stream}`;
    const live = streams.get(name);
    if (live !== undefined) return live;
    // Another command has begun, so earlier ones have ended.
    for (const [other, before] of streams) if (Number.parseInt(other) < command) this.#endLine(before);
    const sibling = [...streams].find(([other]) => Number.parseInt(other) === command)?.[1];
    const written = sibling?.command ?? { texts: [], isWhole: true };
    const made: Stream = { id, stream, rest: "", begun: false, timer: undefined, command: written };
    streams.set(name, made);
    return made;
  }

  #take(stream: Stream, text: string): void {
    if (stream.command.isWhole) {
      stream.command.texts.push({ stream: stream.stream, text });
      this.#remembered += text.length;
      if (this.#remembered > MAX_SHOWN) this.#forget(stream.command);
    }
    // A carriage return at the end may be the first half of a line end.
    const lines = (stream.rest + text).split(/\r?\n|\r(?!$)/);
    stream.rest = lines.pop() ?? "";
    for (const line of lines) this.#finish(stream, line);
    while (stream.rest.length > MAX_LINE) {
      this.#write(stream.id, stream.stream, stream.rest.slice(0, MAX_LINE));
      stream.rest = stream.rest.slice(MAX_LINE);
    }
    clearTimeout(stream.timer);
    if (stream.rest === "") return;
    stream.timer = setTimeout(() => this.#showBeginning(stream), this.#options.unfinishedMs ?? UNFINISHED_MS);
  }

  /** Shows a line, or the rest of a line whose beginning was shown; the rest may be empty. */
  #finish(stream: Stream, line: string): void {
    if (!stream.begun) this.#write(stream.id, stream.stream, line);
    else if (line !== "") this.#write(stream.id, stream.stream, `… ${line}`);
    stream.begun = false;
  }

  #showBeginning(stream: Stream): void {
    // A final carriage return may be half a line end, so it stays.
    const ended = stream.rest.endsWith("\r");
    const text = ended ? stream.rest.slice(0, -1) : stream.rest;
    if (text === "") return;
    this.#write(stream.id, stream.stream, `${stream.begun ? "… " : ""}${text}${ended ? "" : " …"}`);
    stream.rest = ended ? "\r" : "";
    stream.begun = true;
  }

  #endLine(stream: Stream): void {
    clearTimeout(stream.timer);
    if (stream.rest !== "") this.#finish(stream, stream.rest.replace(/\r$/, ""));
    stream.rest = "";
    stream.begun = false;
  }

  /** Unfinished lines are not shown any more. */
  [Symbol.dispose](): void {
    for (const streams of this.#streams.values()) for (const stream of streams.values()) clearTimeout(stream.timer);
  }

  #forget(command: Written): void {
    this.#remembered -= command.texts.reduce((sum, { text }) => sum + text.length, 0);
    command.texts = [];
    command.isWhole = false;
  }

  #write(id: string, stream: LiveText["stream"], line: string): void {
    const { CYAN, YELLOW, ENDC } = colours(this.#options.color);
    const colour = stream === "stderr" ? YELLOW : CYAN;
    const name = stream === "stderr" ? `${sanitizeLine(id)} (stderr)` : sanitizeLine(id);
    this.#options.write(`${colour}${name}:${ENDC} ${sanitizeLine(line)}\n`);
  }
}

/** The possible returns of a function for a command: each stream separately, or both joined as by `cmd.run`. */
function returnsOf({ texts }: Written): string[] {
  const of = (which?: LiveText["stream"]) =>
    texts.map(({ stream, text }) => which === undefined || stream === which ? text : "").join("");
  return [of("stdout"), of("stderr"), of()];
}

/** `value` with each text of several lines in `above` replaced by a note, also in maps. */
function withoutShown(value: Value, above: ReadonlySet<string>): Value {
  if (isMap(value)) return mapOf([...value].map(([key, item]) => [key, withoutShown(item, above)]));
  if (typeof value !== "string" || !above.has(value)) return value;
  const lines = value.replace(/\n$/, "").split("\n").length;
  return lines > 1 ? `(the ${lines} lines above)` : value;
}
