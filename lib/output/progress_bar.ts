/**
 * The line that `salt --progress` keeps on the terminal while minions return.
 * @module
 */

/** Where the bar is drawn. */
export interface ProgressPlace {
  /** Writes to the terminal. */
  write(text: string): void;
  /** Its width in characters. Default: 80. */
  readonly columns?: number;
}

/** A line on the terminal that is redrawn in place. */
export class ProgressBar {
  readonly #total: number;
  readonly #place: ProgressPlace;
  readonly #startedMs = performance.now();

  constructor(total: number, place: ProgressPlace) {
    this.#total = total;
    this.#place = place;
    this.update(0);
  }

  /** Redraws the bar for `count` returned minions. */
  update(count: number): void {
    const part = this.#total === 0 ? 1 : Math.min(1, count / this.#total);
    const seconds = Math.floor((performance.now() - this.#startedMs) / 1000);
    const before = `${String(Math.floor(part * 100)).padStart(3)}% |`;
    const after = `| ${seconds} s, returns: ${count}/${this.#total}`;
    const room = Math.max(5, (this.#place.columns ?? 80) - before.length - after.length - 1);
    const done = Math.round(part * room);
    this.#place.write(`\r${before}${"#".repeat(done)}${" ".repeat(room - done)}${after}`);
  }

  /** Ends the line. */
  end(): void {
    this.#place.write("\n");
  }
}
