/**
 * The master's key pair as a thread of the master uses it, also while the next pair replaces it: who knows nothing of
 * statements gets the old key until the overlap ends, or the next one once it trusts that; who follows them the new one
 * from its beginning. The files are
 * master_rotation.ts's; a thread looks at them again when the file of statements is another one.
 * Source: docs/cluster.md "The next key pair of the masters".
 * @module
 */

import { fingerprint, samePem } from "#lib/crypto/pem.ts";
import { opensslOperations } from "#lib/crypto/openssl_rsa.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { RememberedValue } from "#lib/runtime/remembered_value.ts";
import type { KeyStatement } from "./key_statement.ts";
import { readMasterFiles, statementsPath } from "./master_rotation.ts";

/** What the files say. */
interface Loaded {
  /** Identifies the file of statements. */
  readonly version: string | undefined;
  /** The key pair; before the end of an overlap the old one. */
  readonly own: PrivateKey;
  /** The next one, while there is one. */
  readonly next: PrivateKey | undefined;
  readonly statements: readonly KeyStatement[];
}

/** The options that say where the files are. */
interface MasterPairsOpts {
  readonly pki_dir: string;
  readonly id: string;
}

/** How long the statements are taken to be those that were read, in milliseconds: each job that is sent asks. */
const LASTS_MS = 100;

/** The keys, as one thread sees them; others' changes are seen within {@linkcode LASTS_MS}. */
export class MasterPairs {
  readonly #opts: MasterPairsOpts;
  readonly #startPem: string;
  readonly #now: () => number;
  readonly #loaded: RememberedValue<Loaded>;

  /** @param startPem The private key with which the master was started: it is read when there are no statements. */
  constructor(opts: MasterPairsOpts, startPem: string, now: () => number = Date.now) {
    this.#opts = opts;
    this.#startPem = startPem;
    this.#now = now;
    this.#loaded = new RememberedValue<Loaded>((last) => this.#look(last), LASTS_MS, now);
  }

  /** The key that everybody knows: it signs publishes and pillar. */
  get current(): PrivateKey {
    const { own, next, statements } = this.#loaded.get();
    return next !== undefined && this.#now() >= lastOf(statements).notAfterMs ? next : own;
  }

  /** The key for minions that follow statements. */
  get newest(): PrivateKey {
    const { own, next, statements } = this.#loaded.get();
    return next !== undefined && this.#now() >= lastOf(statements).notBeforeMs ? next : own;
  }

  /** What leads to the present key, and to the next one. */
  get statements(): readonly KeyStatement[] {
    return this.#loaded.get().statements;
  }

  /** The next pair, from its announcement to the end of the overlap. */
  get next(): PrivateKey | undefined {
    const { next, statements } = this.#loaded.get();
    return next !== undefined && this.#now() < lastOf(statements).notAfterMs ? next : undefined;
  }

  /** The key with this SHA-256 fingerprint, if it is still used. */
  withFingerprint(text: string): PrivateKey | undefined {
    return [this.current, this.newest].find(({ publicKey }) => fingerprint(publicKey.pem, "sha256") === text);
  }

  #look(last: Loaded | undefined): Loaded {
    const file = statIfExists(statementsPath(this.#opts.pki_dir));
    const version = file && `${file.ino}:${file.mtime?.getTime()}:${file.size}`;
    return last === undefined || last.version !== version ? this.#read(version) : last;
  }

  #read(version: string | undefined): Loaded {
    if (version === undefined) return { version, own: opened(this.#startPem), next: undefined, statements: [] };
    const { own, next, statements } = readMasterFiles(this.#opts);
    return {
      version,
      own: opened(own?.pem ?? this.#startPem),
      next: next && opened(next.pem),
      statements: next === undefined && own !== undefined ? upTo(statements, own.publicKey.pem) : statements,
    };
  }
}

/** The statements up to the one that leads to `pem`: one whose key pair is missing says nothing true. */
function upTo(statements: readonly KeyStatement[], pem: string): readonly KeyStatement[] {
  return statements.slice(0, statements.findLastIndex(({ next }) => samePem(next, pem)) + 1);
}

function lastOf(statements: readonly KeyStatement[]): Pick<KeyStatement, "notBeforeMs" | "notAfterMs"> {
  return statements.at(-1) ?? { notBeforeMs: Infinity, notAfterMs: Infinity };
}

function opened(pem: string): PrivateKey {
  return PrivateKey.fromPem(pem, opensslOperations(pem));
}
