/**
 * Signs an operator's jobs: with a key of ssh-agent, or with the key file.
 * @module
 */

import { UsageError } from "#lib/errors.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type OperatorKey, signedData } from "./job_signature.ts";
import { ALGORITHM } from "./job_statement.ts";
import { operatorKeyPath, readKeyFile, signWithFile } from "./key_file.ts";
import { agentSocket, SshAgent } from "./ssh_agent.ts";

/** Asks the user for a secret; `undefined`: no answer. */
export type AskSecret = (question: string) => Promise<string | undefined>;

/** The fingerprint that the option `sign` asks for, which is not false; empty: of the only key. */
export function wantedKey(sign: Value): string {
  return sign === true || sign === "true" ? "" : str(sign);
}

/** The key of one operator. */
export class JobSigner implements Disposable {
  readonly #agent: SshAgent | undefined;
  readonly #key: OperatorKey;
  readonly #sign: (message: Uint8Array) => Promise<Uint8Array>;

  private constructor(
    agent: SshAgent | undefined,
    key: OperatorKey,
    sign: (message: Uint8Array) => Promise<Uint8Array>,
  ) {
    this.#agent = agent;
    this.#key = key;
    this.#sign = sign;
  }

  /**
   * Finds the key, with the rights of the calling user, who may give them up afterwards.
   * @param fingerprint As `ssh-add -l` shows it; empty: the only key.
   * @param ask Asks for the passphrase of the key file; none: there is no terminal.
   * @throws {UsageError} If there is no such key, or more than one that could be meant.
   * @throws {CommandError} If the agent does not answer.
   */
  static async open(fingerprint: string, ask?: AskSecret): Promise<JobSigner> {
    const isMeant = (key: OperatorKey) => fingerprint === "" || key.fingerprint === fingerprint;
    const socket = agentSocket(), agent = socket === undefined ? undefined : await SshAgent.connect(socket);
    try {
      const meant = (await agent?.keys() ?? []).filter(isMeant);
      if (meant.length > 1) {
        const names = meant.map((key) => key.fingerprint).join(", ");
        throw new UsageError(`ssh-agent holds several Ed25519 keys; choose one with --sign=FINGERPRINT: ${names}`);
      }
      const [key] = meant;
      if (agent !== undefined && key !== undefined) {
        return new JobSigner(agent, key, (message) => agent.sign(key, signedData(message)));
      }
      return await JobSigner.#fromFile(fingerprint, isMeant, ask);
    } catch (error) {
      agent?.[Symbol.dispose]();
      throw error;
    }
  }

  static async #fromFile(
    fingerprint: string,
    isMeant: (key: OperatorKey) => boolean,
    ask: AskSecret | undefined,
  ): Promise<JobSigner> {
    const path = operatorKeyPath(), file = readKeyFile(path);
    if (file === undefined || !isMeant(file.key)) {
      const which = fingerprint === "" ? "an Ed25519 key" : `the key ${fingerprint}`;
      throw new UsageError(`There is no key to sign with: ssh-agent does not hold ${which}, nor is it in ${path}`);
    }
    const passphrase = await ask?.(`Passphrase of ${path}: `);
    if (passphrase === undefined) {
      throw new UsageError(`The passphrase of ${path} cannot be asked without a terminal; ssh-agent needs none`);
    }
    return new JobSigner(undefined, file.key, (message) => signWithFile(file, message, passphrase));
  }

  /**
   * The signature of a statement, as a load has it.
   * @throws {CommandError} If the agent or `ssh-keygen` refuses.
   */
  async sign(body: Uint8Array): Promise<ValueMap> {
    const sig = await this.#sign(body);
    return map({ alg: ALGORITHM, key: this.#key.blob.toBase64(), body: body.toBase64(), sig: sig.toBase64() });
  }

  /** Closes the connection to the agent. */
  [Symbol.dispose](): void {
    this.#agent?.[Symbol.dispose]();
  }
}
