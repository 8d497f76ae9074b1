/**
 * A minion's own key pair, and how it is replaced by the next one: `minion_next.pem`, then the old key's statement
 * about it in `minion_statements.p`, then one rename. From the statement on the next pair is the minion's: after a
 * crash the next start goes on from there, and before it with the old pair. Masters learn of it by the statements in
 * the sign-in.
 * Source: docs/protocol.md "A key that follows another".
 * @module
 */

import { samePem } from "#lib/crypto/pem.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { readFileIfExists, removeIfExists, syncDirectory, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { type KeyStatement, stateNextKey } from "./key_statement.ts";
import { readStatementFile, statementFile } from "./statement_file.ts";
import { type KeyAccess, loadOrCreateKeyPair, loadPrivateKeyFile } from "./pair.ts";

/** Statements that a minion keeps and sends: a master that was away for more rotations needs an operator. */
export const MAX_MINION_STATEMENTS = 16;

/** Where the pair is, and whose. */
export interface MinionPairPlace extends KeyAccess {
  readonly id: string;
  readonly pkiDir: string;
  readonly keysize: number;
}

/** The pair of a running minion. */
export class MinionPair {
  readonly #place: MinionPairPlace;
  #key: PrivateKey;
  #statements: readonly KeyStatement[];

  private constructor(place: MinionPairPlace, key: PrivateKey, statements: readonly KeyStatement[]) {
    this.#place = place;
    this.#key = key;
    this.#statements = statements;
  }

  /**
   * Reads the pair, or makes the first; finishes a rotation that a crash has cut.
   * @throws {KeyError} If a file cannot be used.
   */
  static async open(place: MinionPairPlace): Promise<MinionPair> {
    const statements = readStatementFile(statementsPath(place.pkiDir));
    finish(place, statements);
    return new MinionPair(place, await loadOrCreateKeyPair(place.pkiDir, "minion", place.keysize, place), statements);
  }

  /** The private key. */
  get key(): PrivateKey {
    return this.#key;
  }

  /** What leads to it from earlier ones. */
  get statements(): readonly KeyStatement[] {
    return this.#statements;
  }

  /**
   * Replaces the pair.
   * @param agree Asks the masters; if it throws, the pair stays.
   */
  async rotate(agree: (statement: KeyStatement) => Promise<void>): Promise<KeyStatement> {
    const { id, pkiDir, keysize } = this.#place, nowMs = Date.now();
    const next = await PrivateKey.generate(keysize);
    const statement = stateNextKey({ minion: id }, this.#key, {
      next: next.publicKey.pem,
      notBeforeMs: nowMs,
      notAfterMs: nowMs,
    });
    await agree(statement);
    const statements = [...this.#statements, statement].slice(-MAX_MINION_STATEMENTS);
    writeFileAtomic(nextPath(pkiDir), next.pem, { mode: 0o400, sync: true });
    writeFileAtomic(statementsPath(pkiDir), statementFile(statements), { mode: 0o644, sync: true });
    finish(this.#place, statements);
    this.#key = next;
    this.#statements = statements;
    return statement;
  }
}

function nextPath(pkiDir: string): string {
  return `${pkiDir}/minion_next.pem`;
}

function statementsPath(pkiDir: string): string {
  return `${pkiDir}/minion_statements.p`;
}

/** Makes the pair that the last statement names the own one, if it is not; a pair of no statement goes. */
function finish({ pkiDir, ...access }: MinionPairPlace, statements: readonly KeyStatement[]): void {
  const last = statements.at(-1), next = loadPrivateKeyFile(nextPath(pkiDir), access);
  const isStated = next !== undefined && last !== undefined && samePem(next.publicKey.pem, last.next);
  if (next !== undefined && !isStated) removeIfExists(nextPath(pkiDir), { sync: true });
  if (isStated) {
    Deno.renameSync(nextPath(pkiDir), `${pkiDir}/minion.pem`);
    syncDirectory(pkiDir);
  }
  const own = last && loadPrivateKeyFile(`${pkiDir}/minion.pem`, access);
  if (own === undefined || last === undefined || !samePem(own.publicKey.pem, last.next)) return;
  const published = new TextDecoder().decode(readFileIfExists(`${pkiDir}/minion.pub`) ?? new Uint8Array());
  if (!samePem(published, last.old)) return;
  writeFileAtomic(`${pkiDir}/minion.pub`, `${last.next}\n`, { mode: 0o644, sync: true });
}
