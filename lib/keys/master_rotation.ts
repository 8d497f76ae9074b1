/**
 * The files of a master's key pair that is replaced by the next one, in `pki_dir`: `master_next.pem`, and
 * `master_statements.p` with all statements that there ever were. At the end of the overlap `master_next.pem` becomes
 * `master.pem`, by one rename. A crash between any two steps leaves a pair that minions trust, and the next start does
 * the rest.
 * Source: docs/cluster.md "The next key pair of the masters".
 * @module
 */

import { samePem } from "#lib/crypto/pem.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { KeyError } from "#lib/errors.ts";
import { outlivingKey } from "./undelivered_key.ts";
import { readFileIfExists, readTextFileIfExists, syncDirectory, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { dirName } from "#lib/os/paths.ts";
import { giveToOwnerOf } from "#lib/os/held_path.ts";
import { withFileLock } from "#lib/os/file_lock.ts";
import { type KeyStatement, stateNextKey } from "./key_statement.ts";
import { readStatementFile, statementFile } from "./statement_file.ts";
import { loadPrivateKeyFile, masterPrivatePath, movedMasterKey } from "./pair.ts";

/** The master whose files they are. */
interface MasterPlace {
  readonly pki_dir: string;
  readonly id: string;
}

/** The files of the pair. */
export interface MasterFiles {
  /** `master.pem`; `undefined`: there is none. */
  readonly own: PrivateKey | undefined;
  /** `master_next.pem`, if the last statement is about it. */
  readonly next: PrivateKey | undefined;
  /** All statements, the oldest first. */
  readonly statements: readonly KeyStatement[];
}

/** How often the files are read again while another process renames one. */
const TRIES = 5;
const PRIVATE_MODE = 0o400, PUBLIC_MODE = 0o644;

/** The file of statements. */
export function statementsPath(pkiDir: string): string {
  return `${pkiDir}/master_statements.p`;
}

function nextPath(pkiDir: string): string {
  return `${pkiDir}/master_next.pem`;
}

/** The file with the key of undelivered jobs, where the pair that it was made of is gone. */
function undeliveredPath(pkiDir: string): string {
  return `${pkiDir}/undelivered.key`;
}

/**
 * The files as they are together.
 * @throws {KeyError} If one of them cannot be read.
 */
export function readMasterFiles({ pki_dir, id }: MasterPlace): MasterFiles {
  const statements = readStatementFile(statementsPath(pki_dir)), last = statements.at(-1);
  for (let i = 0;; i++) {
    const candidate = loadPrivateKeyFile(nextPath(pki_dir), { permissive: true });
    const own = loadPrivateKeyFile(masterPrivatePath(pki_dir, id), { permissive: true });
    const next = candidate !== undefined && last !== undefined && samePem(candidate.publicKey.pem, last.next)
      ? candidate
      : undefined;
    // Between both reads the next one may have become the own one.
    const isWhole = last === undefined || next !== undefined || own === undefined ||
      samePem(own.publicKey.pem, last.next);
    if (isWhole || i === TRIES) {
      const isDone = own !== undefined && last !== undefined && samePem(own.publicKey.pem, last.next);
      return { own, next: isDone ? undefined : next, statements };
    }
  }
}

/** A rotation of the pair. */
export interface MasterRotation {
  readonly statement: KeyStatement;
  /** Whether it is the one that was asked for, and not one that was going on. */
  readonly isNew: boolean;
}

/** How a rotation is made. */
export interface RotationTimes {
  readonly keysize: number;
  readonly nowMs: number;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** A new pair, and the statement of the own one about it. */
export async function nextPair(
  own: PrivateKey,
  { keysize, notBeforeMs, notAfterMs }: RotationTimes,
): Promise<{ readonly pem: string; readonly statement: KeyStatement }> {
  const made = await PrivateKey.generate(keysize);
  return {
    pem: made.pem,
    statement: stateNextKey("master", own, { next: made.publicKey.pem, notBeforeMs, notAfterMs }),
  };
}

/**
 * Begins to replace the pair of a master that stands alone, unless it is being replaced.
 * @throws {KeyError} If there is no pair, or another process changes it now.
 */
export async function rotateMasterPair(place: MasterPlace, times: RotationTimes): Promise<MasterRotation> {
  settleMasterPair(place, times.nowMs);
  const { own } = readMasterFiles(place);
  if (own === undefined) throw new KeyError(`${place.pki_dir} has no master.pem`);
  const made = await nextPair(own, times);
  return locked(place, () => {
    const { next, statements } = readMasterFiles(place), last = statements.at(-1);
    if (next !== undefined && last !== undefined) return { statement: last, isNew: false };
    writeNextPair(place, { pem: made.pem, statements: [...statements, made.statement] });
    return { statement: made.statement, isNew: true };
  });
}

/** Writes the next pair, and then the statements that make it one. */
export function writeNextPair(
  { pki_dir }: MasterPlace,
  { pem, statements }: { readonly pem: string | undefined; readonly statements: readonly KeyStatement[] },
): void {
  if (pem !== undefined) write(nextPath(pki_dir), pem, PRIVATE_MODE);
  write(statementsPath(pki_dir), statementFile(statements), PUBLIC_MODE);
}

/**
 * Makes the next pair the own one if the overlap is over, and finishes what a crash left.
 * @returns The statement about a pair that became the own one now.
 * @throws {KeyError} If a file cannot be read, or another process changes them now.
 */
export function settleMasterPair(place: MasterPlace, nowMs: number): KeyStatement | undefined {
  if (readFileIfExists(statementsPath(place.pki_dir)) === undefined) return undefined;
  return locked(place, () => {
    const { own, next, statements } = readMasterFiles(place), last = statements.at(-1);
    if (last === undefined || own === undefined) return undefined;
    if (next !== undefined && nowMs >= last.notAfterMs) {
      takeNext(place, own);
      writePublicKeys(place, last.next);
      return last;
    }
    // The public half that a crash left behind.
    const published = readTextFileIfExists(masterPrivatePath(place.pki_dir, place.id).replace(/pem$/, "pub"));
    if (samePem(own.publicKey.pem, last.next) && samePem(published ?? "", last.old)) {
      writePublicKeys(place, last.next);
    }
    return undefined;
  });
}

function takeNext({ pki_dir, id }: MasterPlace, own: PrivateKey): void {
  const kept = undeliveredPath(pki_dir);
  // Jobs that wait for their minions are sealed by the old pair.
  if (readTextFileIfExists(kept) === undefined) {
    write(kept, outlivingKey(own.pem), PRIVATE_MODE);
  }
  Deno.renameSync(nextPath(pki_dir), masterPrivatePath(pki_dir, id));
  syncDirectory(pki_dir);
}

function writePublicKeys({ pki_dir, id }: MasterPlace, pem: string): void {
  const path = masterPrivatePath(pki_dir, id).replace(/pem$/, "pub");
  for (const each of new Set([path, `${pki_dir}/${movedMasterKey(id)}.pub`])) {
    write(each, `${pem}\n`, PUBLIC_MODE);
  }
}

/** What undelivered jobs are sealed with: a key that an earlier pair left, or the private key itself. */
export function undeliveredSecret(pkiDir: string, masterPem: string): string {
  return readTextFileIfExists(undeliveredPath(pkiDir)) ?? masterPem;
}

/** Writes a file of the pair; the master can read it, whoever has run the command. */
function write(path: string, contents: Uint8Array | string, mode: number): void {
  writeFileAtomic(path, contents, { mode, sync: true });
  giveToOwnerOf(dirName(path), path);
}

function locked<T>({ pki_dir }: MasterPlace, run: () => T): T {
  const path = `${pki_dir}/.master_keys.lock`;
  const done = withFileLock(path, () => {
    giveToOwnerOf(pki_dir, path);
    return { value: run() };
  });
  if (done === undefined) throw new KeyError(`Another process changes the key pair in ${pki_dir}`);
  return done.value;
}
