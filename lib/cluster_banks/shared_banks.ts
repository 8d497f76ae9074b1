/**
 * The data of minions and tokens that the masters of a cluster give each other, as one master has them in its files:
 * what is in the database is read from there and written to there, by the code that uses the files. What comes from the
 * database is checked here.
 * @module
 */

import { Tokens } from "#lib/auth/tokens.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { AuthenticationError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import type { ChangeNote } from "#lib/os/change_notes.ts";
import { listDirectory, type StoreLog } from "#lib/os/store_files.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map } from "#lib/values/value.ts";
import { type BankRow, type BankWrite, DATA_BANKS, type DataBank, type SharedBank } from "./bank_rows.ts";
import type { ClusterKeys } from "#lib/cluster/cluster_secrets.ts";

/** The options that say where the files are. */
export type SharedBankOpts = Pick<MasterOpts, "cachedir" | "token_dir" | "hash_type" | "mine_max_bytes">;

/** The purpose that tokens are sealed for. */
const TOKEN = "token";

/** The files of one master. */
export class SharedBanks {
  readonly #data: DataCache;
  readonly #mine: Mine;
  readonly #tokens: Tokens;
  readonly #cachedir: string;
  readonly #keys: Pick<ClusterKeys, "seal" | "open">;
  readonly #log: StoreLog;

  /** @param parts.log Called with what cannot be read, and with rows that are refused. */
  constructor(opts: SharedBankOpts, { keys, log }: { keys: Pick<ClusterKeys, "seal" | "open">; log: StoreLog }) {
    this.#data = new DataCache(opts.cachedir, { log });
    this.#mine = new Mine(opts.cachedir, { log, maxBytes: opts.mine_max_bytes });
    this.#tokens = new Tokens({ directory: opts.token_dir, hashType: opts.hash_type, log });
    this.#cachedir = opts.cachedir;
    this.#keys = keys;
    this.#log = log;
  }

  /** What is there now under the name of a note, for the database; `undefined`: it is no name of that bank. */
  read(bank: string, name: string): BankWrite | undefined {
    if (bank === "tokens") {
      const file = this.#tokens.packed(name);
      const body = file && this.#keys.seal(TOKEN, encode(map({ token: name, file }), "disk"));
      return { bank, name: digestOf(name), body };
    }
    if (!isShared(bank) || !isValidId(name)) return undefined;
    if (bank === "mine") {
      const mine = this.#mine.packed(name);
      return { bank, name, body: mine && encode(map({ values: mine.values, times: mine.times }), "disk") };
    }
    return { bank, name, body: this.#data.packed(bank, name) };
  }

  /**
   * Writes what another master has.
   * @throws {StoreError} If it cannot be written.
   */
  write({ bank, name, body }: Omit<BankRow, "seq">): void {
    const isDone = bank === "tokens"
      ? this.#writeToken(name, body)
      : isShared(bank) && isValidId(name) && this.#writeData(bank, name, body);
    if (!isDone) {
      this.#log(`The row ${JSON.stringify(name)} of the bank ${JSON.stringify(bank)} is refused: it is none`);
    }
  }

  #writeData(bank: DataBank, id: string, body: Uint8Array | undefined): boolean {
    if (body === undefined) {
      if (bank === "mine") this.#mine.setPacked(id, undefined);
      else this.#data.setPacked(bank, id, undefined);
      return true;
    }
    const value = decodeIfWhole(body);
    if (!isMap(value)) return false;
    if (bank !== "mine") {
      this.#data.setPacked(bank, id, body);
      return true;
    }
    const [values, times] = [value.get("values"), value.get("times")];
    if (!(values instanceof Uint8Array) || !isMap(times) || !isMap(decodeIfWhole(values))) return false;
    this.#mine.setPacked(id, { values, times });
    return true;
  }

  #writeToken(digest: string, sealed: Uint8Array | undefined): boolean {
    if (sealed === undefined) {
      const token = this.#tokens.list().find((each) => digestOf(each) === digest);
      if (token !== undefined) this.#tokens.setPacked(token, undefined);
      return true;
    }
    const opened = this.#opened(sealed);
    const [token, file] = isMap(opened) ? [opened.get("token"), opened.get("file")] : [];
    if (typeof token !== "string" || !(file instanceof Uint8Array) || digestOf(token) !== digest) return false;
    this.#tokens.setPacked(token, file);
    return true;
  }

  #opened(sealed: Uint8Array): ReturnType<typeof decodeIfWhole> {
    try {
      return decodeIfWhole(this.#keys.open(TOKEN, sealed));
    } catch (error) {
      if (error instanceof AuthenticationError) return undefined;
      throw error;
    }
  }

  /** Whether the files have what a row has. */
  has({ bank, name, body }: Omit<BankRow, "seq">): boolean {
    if (bank === "tokens") {
      return this.#tokens.list().some((token) => digestOf(token) === name) === (body !== undefined);
    }
    const here = this.read(bank, name)?.body;
    return here === undefined || body === undefined ? here === body : sameBytes(here, body);
  }

  /** Everything that there is, by the names of notes. */
  all(): ChangeNote[] {
    const banks: readonly SharedBank[] = [...DATA_BANKS, "tokens"];
    return banks.flatMap((kind) => this.#names(kind).map((name) => ({ kind, name })));
  }

  #names(bank: SharedBank): string[] {
    if (bank === "tokens") return this.#tokens.list();
    if (bank === "grains") return this.#data.list();
    const files = listDirectory(`${this.#cachedir}/${bank}`, this.#log).map(({ name }) => name);
    return files.filter((name) => name.endsWith(".p") && !name.startsWith(".")).map((name) => name.slice(0, -2));
  }
}

function isShared(bank: string): bank is DataBank {
  return DATA_BANKS.some((shared) => shared === bank);
}

/** The name of a token in the database, of which nobody makes the token. */
function digestOf(token: string): string {
  return hashHex(token, "sha256");
}
