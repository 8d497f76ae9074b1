/**
 * Log records about mistakes in what a user wrote, held until the result is shown: what the result shows is not logged
 * on the same terminal again. The log file has all of them at once.
 * @module
 */

import type { LogRecord, LogSink } from "./log.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";

/** The mistakes of one command. */
export class HeldMistakes {
  readonly #held = new Map<string, LogRecord>();
  #printed = "";

  /**
   * A sink that holds mistakes, each once, and passes other records on. Its end shows those that no result has shown.
   */
  before(sink: LogSink): LogSink {
    return {
      level: sink.level,
      write: (record) => {
        if (record.isMistake === true) this.#held.set(record.message, record);
        else sink.write(record);
      },
      close: () => {
        for (const record of this.#held.values()) if (!this.#isPrinted(record.message)) sink.write(record);
        this.#held.clear();
        sink.close();
      },
    };
  }

  /** Takes what the command has printed on the same terminal. */
  printed(text: string): void {
    if (this.#held.size > 0) this.#printed += text;
  }

  /**
   * Whether each line of a message was printed, the first one perhaps without the words before the mistake itself, or
   * behind the mark of an item of a list.
   */
  #isPrinted(message: string): boolean {
    const printed = new Set(linesOf(withoutColours(this.#printed)));
    const [first, ...rest] = linesOf(message);
    return first === undefined ||
      rest.every((line) => printed.has(line)) &&
        (printed.has(first) || printed.has(`- ${first}`) || [...printed].some((line) => first.endsWith(line)));
  }
}

/** A terminal's text without the codes of its colours; it has no other codes. */
function withoutColours(text: string): string {
  const [first, ...coloured] = text.split("\u001b[");
  return [first, ...coloured.map((part) => part.slice(part.indexOf("m") + 1))].join("");
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => sanitizeLine(line).trim()).filter((line) => line !== "");
}
