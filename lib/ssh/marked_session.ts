/**
 * A session of a script on a host: it gives sudo its password, reads the lines with the mark, and keeps what else is
 * said for the message of a failure.
 * @module
 */

import { SshError } from "#lib/errors.ts";
import type { SshConnection, SshSession } from "./connection.ts";
import { sudoPrompt } from "./host_scripts.ts";
import { KeptText } from "./kept_text.ts";
import { type MarkedLine, MarkedOutput } from "./marked_output.ts";
import type { RosterHost } from "./roster.ts";

/** A new mark: 128 random bits, so that nothing else on a host writes it. */
export function newMark(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex();
}

/** A running script. */
export class MarkedSession implements AsyncDisposable {
  readonly #session: SshSession;
  readonly #connection: SshConnection;
  readonly #host: RosterHost;
  readonly #output: MarkedOutput;
  readonly #said = new KeptText();
  readonly #errors: Promise<void>;
  readonly #prompt: string;
  /** How often sudo has asked. */
  #asked = 0;
  #refusal: SshError | undefined;

  constructor(connection: SshConnection, host: RosterHost, { command, mark }: {
    readonly command: string;
    readonly mark: string;
  }) {
    this.#connection = connection;
    this.#host = host;
    this.#prompt = sudoPrompt(mark);
    this.#session = connection.run(command);
    // With a terminal both outputs are one.
    const seen = new KeptText();
    this.#output = new MarkedOutput(this.#session.stdout.getReader(), {
      mark,
      onPiece: (piece) => {
        if (!host.sudo) return;
        seen.add(piece);
        this.#answerSudo(seen.text);
      },
    });
    this.#errors = this.#readErrors();
    // Awaited when the session has ended; until then it must not be unhandled.
    this.#errors.catch(() => {});
  }

  /**
   * The next line with the mark.
   * @throws {SshError} If the session ends without one.
   */
  line(): Promise<MarkedLine> {
    return this.#output.line((when) => this.failure(when));
  }

  /** The bytes behind the last line, as they come; `undefined` at the end. */
  next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#output.next();
  }

  /** Writes to the script's input; a script that has ended does not read it, and its end says why. */
  async write(bytes: Uint8Array): Promise<boolean> {
    try {
      await this.#session.stdin.write(bytes);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * The error for a session that ended too early.
   * @param when `before it began`
   */
  async failure(when: string): Promise<SshError> {
    const code = await this.#session.code;
    await this.#errors;
    if (this.#refusal !== undefined) return this.#refusal;
    const said = [this.#said.text, this.#connection.isOver ? this.#connection.said : ""].map((text) => text.trim())
      .filter((text) => text !== "").join("\n");
    const reason = said === "" ? "" : `: ${said}`;
    if (code === 255 || this.#connection.isOver) {
      return new SshError("connection lost", `The connection to ${this.#host.host} ended ${when}${reason}`);
    }
    const kind = this.#asked > 0 ? "sudo" : "deploy";
    return new SshError(kind, `The command on ${this.#host.host} ended with ${code} ${when}${reason}`);
  }

  async #readErrors(): Promise<void> {
    for await (const piece of this.#session.stderr) {
      this.#said.add(piece);
      if (this.#host.sudo) this.#answerSudo(this.#said.text);
    }
  }

  /** Gives the password the first time that sudo asks; when it asks again, the password was wrong. */
  #answerSudo(text: string): void {
    const prompts = text.split(this.#prompt).length - 1;
    if (prompts <= this.#asked) return;
    this.#asked = prompts;
    const { passwd, host } = this.#host;
    if (passwd !== "" && prompts === 1) {
      void this.write(new TextEncoder().encode(`${passwd}\n`));
      return;
    }
    this.#refusal = new SshError(
      "sudo",
      passwd === "" ? "Sudo password is required but not provided" : `sudo on ${host} does not take the password`,
    );
    this.#session.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.stdin.close().catch(() => {});
    this.#session.kill();
    await this.#session.code;
    await this.#errors;
  }
}
