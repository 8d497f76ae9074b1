/**
 * Keys and data of a master's files into the database of its cluster, and back: `database.load` and `database.save`.
 * @module
 */

import { openClusterDatabase } from "#lib/cluster/open_cluster.ts";
import { type ClusterPairs, isPairOf, mirrorPairs, pairsOfCluster, presentPair } from "#lib/cluster/pair_rows.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { StoreError } from "#lib/errors.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { warningLogger } from "#lib/runtime/log.ts";
import { type BankRow, readAllBankRows } from "./bank_rows.ts";
import { writeKeys } from "./key_mirror.ts";
import { keyGeneration, readKeyRows } from "./key_rows.ts";
import { loadKeys } from "./load_keys.ts";
import { SharedBanks } from "./shared_banks.ts";
import { dataExchange, keyMirror } from "./shared_state.ts";

/** What is moved. */
interface MovedParts {
  readonly keys: boolean;
  readonly data: boolean;
}

/** How much is new where it was moved to. */
export interface MovedBanks {
  /** Minions. */
  readonly keys: number;
  /** Rows of grains, pillar, mine, tokens. */
  readonly data: number;
}

type Warn = (text: string) => void;

/** Rows of one question. */
const MAX_ROWS = 500;

/**
 * Brings what the database does not have. It may be repeated.
 * @throws {StoreError} If the database is away, or was set back.
 * @throws {PreflightError} If this master has never joined the cluster.
 */
export async function loadBanks(opts: MasterOpts, wanted: MovedParts, warn: Warn): Promise<MovedBanks> {
  await using cluster = openClusterDatabase(opts, warn);
  const { database: db, keys } = cluster, store = new KeyStore(opts.pki_dir);
  const mirror = keyMirror(opts, { db, keys, log: warningLogger(warn) });
  const by = `files of ${opts.id}`, hashType = opts.hash_type;
  const brought = wanted.keys ? await loadKeys({ db, keys, mirror, store, hashType, by }) : [];
  const data = wanted.data ? await dataExchange(opts, { db, keys, log: warn }).giveAll() : 0;
  return { keys: brought.length, data };
}

/**
 * Makes the files what the database has. It may be repeated.
 * @param to A directory that gets `pki`, `grains`, `pillar`, `mine`, `tokens`. Default: the directories of the options.
 * @throws As {@linkcode loadBanks}.
 */
export async function saveBanks(opts: MasterOpts, to: string | null, warn: Warn): Promise<MovedBanks> {
  await using cluster = openClusterDatabase(opts, warn);
  const { database: db, keys } = cluster, { schema } = db;
  const pkiDir = to === null ? opts.pki_dir : `${to}/pki`;
  const { rows, refused, found } = await db.read(async (client) => {
    const upTo = await keyGeneration(client, schema);
    return {
      ...await readKeyRows(client, { above: -1, upTo }, { schema, keys }),
      found: await pairsOfCluster(client, { schema, keys }),
    };
  });
  for (const { minion, state } of refused) {
    warn(`The row of the key of ${minion} (${state}) is refused: nobody signed it`);
  }
  // First, as it refuses a directory of other masters, whose keys stay as they are.
  writePair(pkiDir, found, opts.id);
  const changed = writeKeys(rows, new KeyStore(pkiDir));
  const places = to === null ? opts : { ...opts, cachedir: to, token_dir: `${to}/tokens` };
  const banks = new SharedBanks(places, { keys, log: warn });
  let data = 0;
  for (let after = { bank: "", name: "" };;) {
    const some: BankRow[] = await db.read((client) => readAllBankRows(client, { after, limit: MAX_ROWS }, schema));
    for (const row of some) {
      if (banks.has(row)) continue;
      banks.write(row);
      data++;
    }
    const last = some.at(-1);
    if (last === undefined) break;
    after = last;
  }
  return { keys: changed.size, data };
}

/** The key pair of the masters, if there is none or an earlier one, and the next pair. */
function writePair(pkiDir: string, pairs: ClusterPairs, id: string): void {
  const pem = presentPair(pairs, Date.now());
  if (pem === undefined) return;
  const there = [id, "master"].map((name) => readTextFileIfExists(`${pkiDir}/${name}.pem`));
  const existing = there.find((text) => text !== undefined);
  const publicPem = PrivateKey.fromPem(pem).publicKey.pem;
  if (existing !== undefined) {
    if (isPairOf(pairs, PrivateKey.fromPem(existing).publicKey.pem)) return mirrorPairs({ pki_dir: pkiDir, id }, pairs);
    throw new StoreError(`${pkiDir} has another key pair than the cluster: move it away`, pkiDir);
  }
  writeFileAtomic(`${pkiDir}/master.pem`, pem, { mode: 0o400, sync: true, makeDirectory: true });
  writeFileAtomic(`${pkiDir}/master.pub`, publicPem, { mode: 0o644, sync: true });
  mirrorPairs({ pki_dir: pkiDir, id }, pairs);
}
