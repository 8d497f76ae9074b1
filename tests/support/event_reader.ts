/**
 * Reads a stream of server-sent events, as a client that is cut off now and then does.
 * @module
 */

/** One event of a stream: its fields, each once. */
export type StreamedEvent = Readonly<Record<string, string>>;

/** An open stream. */
export class EventReader implements Disposable {
  readonly #control = new AbortController();
  readonly #response: Promise<Response>;
  #text = "";
  #reader: ReadableStreamDefaultReader<string> | undefined;

  /** Opens it. */
  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#response = fetch(url, { headers, signal: this.#control.signal });
  }

  /** Waits for the headers; the status. */
  async status(): Promise<number> {
    return (await this.#response).status;
  }

  /** The next event, or what `retry:` says with the first; `undefined` when the stream has ended. */
  async next(): Promise<StreamedEvent | undefined> {
    const { body } = await this.#response;
    if (body === null) return undefined;
    this.#reader ??= body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split("\n").filter((line) => !line.startsWith(":"));
        this.#text = this.#text.slice(end + 2);
        if (lines.length === 0) continue;
        return Object.fromEntries(lines.map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon), line.slice(colon + 2)];
        }));
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += value;
    }
  }

  /** The next event whose tag begins so. */
  async until(prefix: string): Promise<StreamedEvent | undefined> {
    for (;;) {
      const event = await this.next();
      if (event === undefined || event.tag?.startsWith(prefix)) return event;
    }
  }

  /** Cuts the connection. */
  [Symbol.dispose](): void {
    this.#control.abort();
  }
}
