/**
 * A client of ssh-agent: the Ed25519 keys that it holds, and signatures by them. The keys stay in the agent.
 * Source: draft-ietf-sshm-ssh-agent.
 * @module
 */

import { CommandError, messageOf, WireError } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { writeAllAsync } from "#lib/os/write_all.ts";
import { type OperatorKey, operatorKey, plainSignature } from "./job_signature.ts";
import { sshNumber, SshReader, sshString } from "./ssh_wire.ts";

const REQUEST_IDENTITIES = 11, IDENTITIES_ANSWER = 12, SIGN_REQUEST = 13, SIGN_RESPONSE = 14;
/** Bytes of the largest answer that is read. */
const MAX_ANSWER = 1 << 20;
const LENGTH_BYTES = 4;

/** The socket of the calling user's agent; `undefined`: there is none. */
export function agentSocket(): string | undefined {
  return Deno.env.get("SSH_AUTH_SOCK") || undefined;
}

/** An answer of the agent. */
interface WantedAnswer<T> {
  /** Its kind; another one refuses. */
  readonly wanted: number;
  /** @throws {WireError} If it has another form. */
  readonly read: (reader: SshReader) => T;
}

/** A connection to the agent, which the calling user's later rights do not close. */
export class SshAgent implements Disposable {
  readonly #socket: string;
  readonly #connection: Deno.Conn;
  /** The answers come in the order of the requests. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(socket: string, connection: Deno.Conn) {
    this.#socket = socket;
    this.#connection = connection;
  }

  /** @throws {CommandError} If it does not answer. */
  static async connect(socket: string): Promise<SshAgent> {
    try {
      return new SshAgent(socket, await Deno.connect({ transport: "unix", path: socket }));
    } catch (error) {
      throw new CommandError(unanswered(socket, error));
    }
  }

  /**
   * The Ed25519 keys that the agent holds, in its order.
   * @throws {CommandError} If it cannot be asked.
   */
  async keys(): Promise<OperatorKey[]> {
    return await this.#ask(REQUEST_IDENTITIES, [], { wanted: IDENTITIES_ANSWER, read: readKeys });
  }

  /**
   * Has the agent sign.
   * @returns The 64 bytes of the signature.
   * @throws {CommandError} If it refuses, or cannot be asked.
   */
  async sign(key: OperatorKey, data: Uint8Array): Promise<Uint8Array> {
    const parts = [sshString(key.blob), sshString(data), sshNumber(0)];
    const read = (reader: SshReader) => plainSignature(reader.string());
    return await this.#ask(SIGN_REQUEST, parts, { wanted: SIGN_RESPONSE, read });
  }

  #ask<T>(kind: number, parts: readonly Uint8Array[], answer: WantedAnswer<T>): Promise<T> {
    const request = sshString(joinBytes([new Uint8Array([kind]), ...parts]));
    const asked = this.#last.then(() => this.#exchange(request, answer));
    this.#last = asked.catch(() => {}); // whoever asked gets the error
    return asked;
  }

  async #exchange<T>(request: Uint8Array, { wanted, read }: WantedAnswer<T>): Promise<T> {
    try {
      await writeAllAsync(this.#connection, request);
      const length = new SshReader(await this.#read(LENGTH_BYTES)).number();
      if (length === 0 || length > MAX_ANSWER) throw new WireError(`an answer of ${length} bytes`);
      const answer = await this.#read(length);
      if (answer[0] === wanted) return read(new SshReader(answer.subarray(1)));
    } catch (error) {
      throw new CommandError(unanswered(this.#socket, error));
    }
    throw new CommandError("ssh-agent refused: does it hold the key, and is it unlocked?");
  }

  async #read(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const read = await this.#connection.read(bytes.subarray(at));
      if (read === null) throw new WireError("it closed the connection");
      at += read;
    }
    return bytes;
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

function readKeys(reader: SshReader): OperatorKey[] {
  const keys: OperatorKey[] = [];
  for (let left = reader.number(); left > 0; left--) {
    const key = operatorKey(reader.string());
    reader.string(); // its comment
    if (key !== undefined) keys.push(key);
  }
  return keys;
}

function unanswered(socket: string, error: unknown): string {
  return `ssh-agent at ${socket} (SSH_AUTH_SOCK) cannot be asked: ${messageOf(error)}`;
}
