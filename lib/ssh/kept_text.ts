/**
 * The text that a program writes, of which a bounded part is kept: the last one, which says how it ended.
 * @module
 */

/** Maximum characters that are kept. */
const MAX_KEPT = 64 * 1024;

/** Collects text. */
export class KeptText {
  readonly #decoder = new TextDecoder();
  #text = "";

  /** The last part of what was added. */
  get text(): string {
    return this.#text;
  }

  /** Adds bytes of UTF-8. */
  add(bytes: Uint8Array): void {
    this.#text = (this.#text + this.#decoder.decode(bytes, { stream: true })).slice(-MAX_KEPT);
  }

  /** Adds everything of a stream. */
  async readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const piece of stream) this.add(piece);
  }
}
