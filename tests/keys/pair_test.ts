/** @module */
import { KeyError } from "#lib/errors.ts";
import { localKeys } from "#lib/keys/local_keys.ts";
import {
  checkPrivateKey,
  loadOrCreateKeyPair,
  loadOrCreateMasterKey,
  loadPrivateKeyFile,
  masterPublicKey,
} from "#lib/keys/pair.ts";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };

const { private: PRIVATE, public: PUBLIC } = corpus.keys.rsa2048;
const BITS = 1024; // generated quickly

function inTemporaryDirectory(run: (dir: string) => Promise<void> | void): () => Promise<void> {
  return async () => {
    const dir = Deno.makeTempDirSync({ prefix: "key_pair_" });
    try {
      await run(dir);
    } finally {
      Deno.removeSync(dir, { recursive: true });
    }
  };
}

const mode = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
const names = (dir: string) => Array.from(Deno.readDirSync(dir), ({ name }) => name).sort();

Deno.test(
  "a key pair is generated once, in Salt's format and modes, and read afterwards",
  inTemporaryDirectory(async (dir) => {
    const pki = `${dir}/etc/pki/minion`;
    const made = await loadOrCreateKeyPair(pki, "minion", BITS);
    assertEquals(names(pki), ["minion.pem", "minion.pub"]);
    assertEquals([mode(`${pki}/minion.pem`), mode(`${pki}/minion.pub`), mode(pki)], [0o400, 0o644, 0o700]);
    assertEquals(Deno.readTextFileSync(`${pki}/minion.pem`), made.pem);
    assertEquals(Deno.readTextFileSync(`${pki}/minion.pub`), made.publicKey.pem + "\n");
    assertEquals((await loadOrCreateKeyPair(pki, "minion", 2048)).pem, made.pem);
    checkPrivateKey(`${pki}/minion.pem`);
  }),
);

Deno.test(
  "processes that start at once get one key",
  inTemporaryDirectory(async (dir) => {
    const keys = await Promise.all([1, 2, 3, 4].map(() => loadOrCreateKeyPair(dir, "minion", BITS)));
    assertEquals(new Set(keys.map((key) => key.pem)).size, 1);
    assertEquals(names(dir), ["minion.pem", "minion.pub"]);
  }),
);

Deno.test(
  "a missing public key is written again; a wrong one is an error and is kept",
  inTemporaryDirectory(async (dir) => {
    Deno.writeTextFileSync(`${dir}/master.pem`, PRIVATE, { mode: 0o600 });
    assertEquals((await loadOrCreateMasterKey(dir, BITS, { id: "saltmaster" })).pem, PRIVATE);
    assertEquals(Deno.readTextFileSync(`${dir}/master.pub`), PUBLIC);
    Deno.writeTextFileSync(`${dir}/master.pub`, PUBLIC.trim().replaceAll("\n", "\r\n"));
    await loadOrCreateMasterKey(dir, BITS, { id: "saltmaster" });
    Deno.writeTextFileSync(`${dir}/master.pub`, corpus.keys.other2048.public);
    await assertRejects(() => loadOrCreateMasterKey(dir, BITS, { id: "saltmaster" }), KeyError, "master.pub");
    assertEquals(Deno.readTextFileSync(`${dir}/master.pub`), corpus.keys.other2048.public);
  }),
);

Deno.test(
  "an unusable private key is an error that names the file, and is kept",
  inTemporaryDirectory(async (dir) => {
    for (const text of ["", "garbage", corpus.refused.encryptedPrivate, corpus.refused.rsa512Private]) {
      Deno.writeTextFileSync(`${dir}/minion.pem`, text, { mode: 0o600 });
      await assertRejects(() => loadOrCreateKeyPair(dir, "minion", BITS), KeyError, `${dir}/minion.pem`);
      assertEquals(Deno.readTextFileSync(`${dir}/minion.pem`), text);
    }
    assertThrows(() => loadPrivateKeyFile(`${dir}/minion.pem`), KeyError);
    assertEquals(loadPrivateKeyFile(`${dir}/none.pem`), undefined);
  }),
);

Deno.test(
  "the master's key is read at the path of Salt 3008, with its link and without",
  inTemporaryDirectory(async (dir) => {
    Deno.writeTextFileSync(`${dir}/saltmaster.pem`, PRIVATE, { mode: 0o400 });
    Deno.writeTextFileSync(`${dir}/saltmaster.pub`, PUBLIC, { mode: 0o400 });
    Deno.symlinkSync(`${dir}/saltmaster.pem`, `${dir}/master.pem`);
    Deno.symlinkSync(`${dir}/saltmaster.pub`, `${dir}/master.pub`);
    const before = names(dir);
    assertEquals((await loadOrCreateMasterKey(dir, BITS, { id: "saltmaster" })).pem, PRIVATE);
    assertEquals(names(dir), before);
    Deno.removeSync(`${dir}/master.pem`);
    assertEquals((await loadOrCreateMasterKey(dir, BITS, { id: "saltmaster" })).pem, PRIVATE);
    assertEquals((await loadOrCreateMasterKey(dir, BITS, { id: "saltmaster_master" })).pem, PRIVATE);
    assertNotEquals((await loadOrCreateKeyPair(dir, "another", BITS)).pem, PRIVATE);
  }),
);

Deno.test(
  "the master's public key is copied to where Python's programs of 3008 look; its list of keys has it once",
  inTemporaryDirectory(async (dir) => {
    Deno.writeTextFileSync(`${dir}/boss.pub`, "of an older key");
    const { publicKey } = await loadOrCreateMasterKey(dir, BITS, { id: "boss_master" });
    assertEquals(names(dir), ["boss.pub", "master.pem", "master.pub"]);
    for (const name of ["boss", "master"]) {
      assertEquals([Deno.readTextFileSync(`${dir}/${name}.pub`), mode(`${dir}/${name}.pub`)], [
        `${publicKey.pem}\n`,
        0o644,
      ]);
    }
    assertEquals([...localKeys(dir).keys()], ["master.pem", "master.pub"]);
    assertEquals(masterPublicKey(dir, "boss_master"), `${publicKey.pem}\n`);
  }),
);

Deno.test(
  "of two different keys the master uses the one that Salt 3008 uses",
  inTemporaryDirectory(async (dir) => {
    Deno.writeTextFileSync(`${dir}/boss.pem`, PRIVATE, { mode: 0o400 });
    await loadOrCreateKeyPair(dir, "master", BITS);
    assertEquals((await loadOrCreateMasterKey(dir, BITS, { id: "boss_master" })).pem, PRIVATE);
    assertEquals(masterPublicKey(dir, "boss_master"), PUBLIC);
  }),
);

Deno.test(
  "a link to a missing key is an error, and no new key is generated",
  inTemporaryDirectory(async (dir) => {
    Deno.symlinkSync(`${dir}/gone.pem`, `${dir}/master.pem`);
    await assertRejects(() => loadOrCreateMasterKey(dir, BITS, { id: "x" }), KeyError, "link");
    assertEquals(names(dir), ["master.pem"]);
  }),
);

Deno.test(
  "a private key with any permission for group or others is refused by name; permissive_pki_access permits the group to read",
  inTemporaryDirectory((dir) => {
    const path = `${dir}/minion.pem`;
    checkPrivateKey(path);
    Deno.writeTextFileSync(path, PRIVATE);
    const refused = (bits: number, permissive: boolean) => {
      Deno.chmodSync(path, bits);
      try {
        loadPrivateKeyFile(path, { permissive });
      } catch (error) {
        assert(error instanceof KeyError);
        const mode = `0${bits.toString(8)}`;
        assertEquals(
          error.message,
          `${path}: others may read or write this private key (mode ${mode}); chmod 0400 ${path}`,
        );
        return true;
      }
      return false;
    };
    for (const bits of [0o400, 0o600]) assertEquals([refused(bits, false), refused(bits, true)], [false, false]);
    for (const bits of [0o440, 0o640]) assertEquals([refused(bits, false), refused(bits, true)], [true, false]);
    for (const bits of [0o604, 0o644, 0o660, 0o402]) {
      assertEquals([refused(bits, false), refused(bits, true)], [true, true]);
    }
  }),
);
