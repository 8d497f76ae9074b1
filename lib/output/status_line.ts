/**
 * One line at the bottom of a terminal that is redrawn in place, below what a command prints. Whatever prints must
 * clear it first.
 * @module
 */

/** The terminal. */
export interface StatusPlace {
  /** Writes to the terminal. */
  write(text: string): void;
  /** Its width in characters. Default: 80. */
  readonly columns?: number;
}

/** A line that is redrawn in place. */
export class StatusLine {
  readonly #place: StatusPlace;
  #shown = "";

  constructor(place: StatusPlace) {
    this.#place = place;
  }

  /** Shows `text`, cut to the width of the terminal, in place of the previous text. */
  show(text: string): void {
    // The last column stays free: a terminal may go to the next line after it.
    const room = Math.max(1, (this.#place.columns ?? 80) - 1);
    const cut = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    if (cut === this.#shown) return;
    this.#place.write(`\r${cut}${ERASE_TO_END}`);
    this.#shown = cut;
  }

  clear(): void {
    if (this.#shown === "") return;
    this.#place.write(`\r${ERASE_TO_END}`);
    this.#shown = "";
  }
}

/** ECMA-48 EL: erases from the cursor to the end of the line. */
const ERASE_TO_END = "\x1b[K";
