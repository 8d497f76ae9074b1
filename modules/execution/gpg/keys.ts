/**
 * Execution module `gpg`, second part: keys.
 * Source: the functions of Salt 3008.3 `salt/modules/gpg.py`.
 * @module
 */

import { KEYCHAIN, type Keychain, openGpg, passphraseOf, withOwnership, writeGpgOutput } from "./home.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { Gpg } from "#lib/host/gnupg/gpg.ts";
import { foundKeys, type GpgKey, isKey, listedKeys, shownKey } from "#lib/host/gnupg/keys.ts";
import { deletionProblem, madeKey, readImport } from "#lib/host/gnupg/results.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { asList } from "#lib/values/shape.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const DEFAULT_KEY_SERVER = "keys.openpgp.org";

/** The documentation of the arguments that select the keys. */
const WHOSE = `

user
    Whose keys: default, the user that the minion runs as; \`salt\`: those in \`gpgkeys\` of the configuration directory.

gnupghome
    The home directory of the keys.

keyring
    The path of a keyring, which is used instead of the home directory's own.`;

async function keysOf(keychain: Keychain, secret: boolean, context: JobContext): Promise<GpgKey[]> {
  const gpg = await openGpg(keychain, context);
  const words = [secret ? "--list-secret-keys" : "--list-keys", "--fingerprint", "--fingerprint", "--with-keygrip"];
  return listedKeys((await gpg.run(words)).stdout);
}

function showKeys(keys: readonly GpgKey[]): ValueMap[] {
  return keys.map((key) => shownKey(key, Date.now()));
}

async function oneKey(
  { keyid, fingerprint, ...keychain }: Keychain & {
    readonly keyid: string | null;
    readonly fingerprint: string | null;
  },
  secret: boolean,
  context: JobContext,
): Promise<ValueMap | false> {
  const match = (await keysOf(keychain, secret, context)).find((key) => isKey(key, keyid, fingerprint));
  return match === undefined ? false : shownKey(match, Date.now());
}

/** Words of a list, or of a text with commas. */
function wordsOf(given: Value): string[] {
  return (Array.isArray(given) ? given : str(given).split(",")).map(str);
}

export const search_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the keys that a key server has for a text: an e-mail address, a key id or a fingerprint.

keyserver
    Default: ${DEFAULT_KEY_SERVER}.`,
    "gpg.search_keys user@example.com",
    "gpg.search_keys user@example.com keyserver=keyserver.ubuntu.com",
  ),
  permissions: "all",
  params: { text: p.str(), keyserver: p.str(null), user: p.str(null), gnupghome: p.str(null) },
  run: async ({ text: searchText, keyserver, ...keychain }, context) => {
    const gpg = await openGpg(keychain, context);
    const query = /^[0-9a-f]+$/i.test(searchText.trim()) ? `0x${searchText.trim()}` : searchText.trim();
    const words = ["--fingerprint", "--keyserver", keyserver || DEFAULT_KEY_SERVER, "--search-keys", "--", query];
    return showKeys(foundKeys((await gpg.run(words)).stdout));
  },
});

export const list_keys: ModuleFunction<JobContext> = fn({
  doc: describe(`Return the public keys.${WHOSE}`, "gpg.list_keys"),
  permissions: "all",
  params: KEYCHAIN,
  run: async (keychain, context) => showKeys(await keysOf(keychain, false, context)),
});

export const list_secret_keys: ModuleFunction<JobContext> = fn({
  doc: describe(`Return the secret keys.${WHOSE}`, "gpg.list_secret_keys"),
  permissions: "all",
  params: KEYCHAIN,
  run: async (keychain, context) => showKeys(await keysOf(keychain, true, context)),
});

const ONE = { keyid: p.str(null), fingerprint: p.str(null), ...KEYCHAIN };

export const get_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the public key with a long or short key id, or a fingerprint; False if there is none.${WHOSE}`,
    "gpg.get_key keyid=3FAD9F1E",
    "gpg.get_key fingerprint=53C96788253E58416D20BCD352952C84C3252192",
  ),
  permissions: "all",
  params: ONE,
  run: (given, context) => oneKey(given, false, context),
});

export const get_secret_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the secret key with a long or short key id, or a fingerprint; False if there is none.${WHOSE}`,
    "gpg.get_secret_key keyid=3FAD9F1E",
  ),
  permissions: "all",
  params: ONE,
  run: (given, context) => oneKey(given, true, context),
});

export const read_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the keys in a file or a text, without importing them.

path
    The file.

text
    The text, instead of a file.

fingerprint, keyid
    The key that is wanted. Default: all of them.`,
    "gpg.read_key /tmp/my-shiny-key.asc",
  ),
  permissions: "all",
  params: {
    path: p.str(null),
    text: p.str(null),
    fingerprint: p.str(null),
    keyid: p.str(null),
    user: p.str(null),
    gnupghome: p.str(null),
  },
  run: async ({ path, text: input, fingerprint, keyid, ...keychain }, context) => {
    if (!truthy(path) && !truthy(input)) throw new InvocationError("Either `path` or `text` is required.");
    if (truthy(path) && truthy(input)) throw new InvocationError("`path` and `text` are mutually exclusive.");
    const gpg = await openGpg(keychain, context);
    const words = ["--dry-run", "--import-options", "import-show", "--import"];
    const { stdout } = truthy(path)
      ? await gpg.run([...words, "--", path ?? ""])
      : await gpg.run(words, { input: input ?? "" });
    const any = !truthy(fingerprint) && !truthy(keyid);
    return showKeys(listedKeys(stdout, "file").filter((key) => any || isKey(key, keyid, fingerprint)));
  },
});

export const create_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a key pair. Returns \`res\`, \`fingerprint\` and \`message\`.

key_type : RSA
    The kind of the primary key, which must be able to sign.

key_length : 1024
    Its bits.

name_real, name_comment, name_email
    The parts of the user's name.

subkey_type, subkey_length
    The same for a second key.

expire_date
    A day (\`2027-01-01\`), a number of days, weeks, months or years (\`2y\`), seconds since 1970, or 0: never.

use_passphrase : False
    Whether the key is protected by the \`gpg_passphrase\` of the pillar.${WHOSE}`,
    "gpg.create_key",
  ),
  permissions: "all",
  params: {
    key_type: p.str("RSA"),
    key_length: p.int(1024),
    name_real: p.str("Autogenerated Key"),
    name_comment: p.str("Generated by SaltStack"),
    name_email: p.str(null),
    subkey_type: p.str(null),
    subkey_length: p.any(null),
    expire_date: p.any(null),
    use_passphrase: p.bool(false),
    ...KEYCHAIN,
  },
  run: ({ use_passphrase, user, gnupghome, keyring, ...given }, context) =>
    withOwnership({ user, gnupghome, keyring }, context, async (gpg) => {
      const passphrase = use_passphrase ? await passphraseOf(context) : undefined;
      if (use_passphrase && passphrase === undefined) {
        return { res: false, fingerprint: "", message: "gpg_passphrase not available in pillar." };
      }
      const key = madeKey((await gpg.run(["--gen-key"], { input: keyRequest(given, passphrase) })).status);
      return key === undefined
        ? { res: false, fingerprint: "", message: "Unable to generate GPG key pair." }
        : { res: true, fingerprint: key, message: "GPG key pair successfully generated." };
    }),
});

/**
 * What `gpg --gen-key` reads.
 * @throws {InvocationError} If a value has several lines.
 */
function keyRequest(given: Readonly<Record<string, Value>>, passphrase: string | undefined): string {
  const { name_email } = given;
  const address = `${
    (Deno.env.get("LOGNAME") || Deno.env.get("USERNAME") || "unspecified").replaceAll(" ", "_")
  }@${Deno.hostname()}`;
  const email = truthy(name_email) ? str(name_email) : address;
  const lines = Object.entries({ ...given, name_email: email }).flatMap(([name, value]) => {
    if (!truthy(value) || str(value).trim() === "") return [];
    const word = name.split("_").map((part) => part[0].toUpperCase() + part.slice(1)).join("-");
    return [`${word}: ${str(value)}`];
  });
  if (passphrase !== undefined) lines.push(`Passphrase: ${passphrase}`);
  const several = lines.find((line) => /[\r\n]/.test(line));
  if (several !== undefined) throw new InvocationError(`${several.split(":")[0]} has several lines`);
  return [...lines, ...passphrase === undefined ? ["%no-protection"] : [], "%commit", ""].join("\n");
}

export const delete_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Delete a key. Returns \`res\` and \`message\`.

keyid, fingerprint
    The key; one of the two.

delete_secret : False
    Whether the secret key goes too; without it a key that has one stays.

use_passphrase : True
    Whether the \`gpg_passphrase\` of the pillar is given to gpg with a secret key.${WHOSE}`,
    "gpg.delete_key keyid=3FAD9F1E",
    "gpg.delete_key keyid=3FAD9F1E user=username delete_secret=True",
  ),
  permissions: "all",
  params: {
    keyid: p.str(null),
    fingerprint: p.str(null),
    delete_secret: p.bool(false),
    user: p.str(null),
    gnupghome: p.str(null),
    use_passphrase: p.bool(true),
    keyring: p.any(null),
  },
  run: async ({ keyid, fingerprint, delete_secret, use_passphrase, ...keychain }, context) => {
    const no = (message: string) => ({ res: false, message });
    if (truthy(fingerprint) && truthy(keyid)) return no("Only specify one argument, fingerprint or keyid");
    if (!truthy(fingerprint) && !truthy(keyid)) return no("Required argument, fingerprint or keyid");
    const gpg = await openGpg(keychain, context);
    const key = await oneKey({ keyid, fingerprint, ...keychain }, false, context);
    if (key === false) return no("Key not available in keychain.");
    const keyFingerprint = str(key.get("fingerprint") ?? "");
    let message = "";
    if (await oneKey({ keyid, fingerprint: keyFingerprint, ...keychain }, true, context) !== false) {
      if (!delete_secret) return no("Secret key exists, delete first or pass delete_secret=True.");
      const problem = await deleteSecret(gpg, keyFingerprint, use_passphrase, context);
      if (problem !== undefined) return no(`Failed to delete secret key for ${keyFingerprint}: ${problem}`);
      message = `Secret key for ${keyFingerprint} deleted\n`;
    }
    const problem = deletionProblem((await gpg.run(["--delete-key", "--", keyFingerprint])).status);
    if (problem !== undefined) return no(`${message}Failed to delete public key for ${keyFingerprint}: ${problem}`);
    return { res: true, message: `${message}Public key for ${keyFingerprint} deleted` };
  },
});

async function deleteSecret(
  gpg: Gpg,
  fingerprint: string,
  usePassphrase: boolean,
  context: JobContext,
): Promise<string | undefined> {
  const passphrase = usePassphrase ? await passphraseOf(context) : undefined;
  if (usePassphrase && passphrase === undefined) return "gpg_passphrase not available in pillar.";
  const given = passphrase === undefined ? {} : { passphrase };
  return deletionProblem((await gpg.run(["--yes", "--delete-secret-key", "--", fingerprint], given)).status);
}

async function importWith(gpg: Gpg, input: Uint8Array | string): Promise<ValueMap> {
  const result = readImport((await gpg.run(["--import"], { input })).status);
  const answer = (res: boolean, message: string): ValueMap =>
    new Map<Value, Value>([["res", res], ["message", message], ["fingerprints", [...result.fingerprints]]]);
  if (result.imported > 0) return answer(true, "Successfully imported key(s).");
  if (result.unchanged > 0) return answer(true, "Key(s) already exist in keychain.");
  if (result.notImported > 0 || result.count === 0) return answer(false, "Unable to import key.");
  return answer(true, "");
}

export const import_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Import keys into a keyring. Returns \`res\`, \`message\` and \`fingerprints\`.

text
    The keys.

filename
    The file that has them.

select
    The keys to take, in any way in which gpg identifies keys. Default: all.${WHOSE}`,
    "gpg.import_key text='-----BEGIN PGP PUBLIC KEY BLOCK-----\\n ... -----END PGP PUBLIC KEY BLOCK-----'",
    "gpg.import_key filename='/path/to/public-key-file'",
  ),
  permissions: "all",
  params: { text: p.str(null), filename: p.str(null), ...KEYCHAIN, select: p.any(null) },
  run: (given, context) => {
    const { text: input, filename, select, ...keychain } = given;
    return withOwnership(keychain, context, async (gpg) => {
      if (!truthy(input) && !truthy(filename)) throw new InvocationError("filename or text must be passed.");
      if (truthy(input) && truthy(filename)) {
        throw new InvocationError("filename and text are mutually exclusive.");
      }
      const keys = truthy(filename) ? await readKeys(filename ?? "") : input ?? "";
      if (!truthy(select)) return await importWith(gpg, keys);
      return await importSelected(gpg, { keys, select: asList(select) }, keychain, context);
    });
  },
});

async function readKeys(path: string): Promise<Uint8Array> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new InvocationError("filename does not exist.");
  }
}

/** gpg takes all keys of a file or none, so they go through their own keyring. */
async function importSelected(
  gpg: Gpg,
  { keys, select }: { readonly keys: Uint8Array | string; readonly select: Value[] },
  keychain: Keychain,
  context: JobContext,
): Promise<ValueMap> {
  const keyring = str(await context.call("temp.file"));
  try {
    const all = await openGpg({ ...keychain, keyring }, context);
    const result = await importWith(all, keys);
    if (result.get("res") !== true) return result;
    const chosen = await all.run(["--export", "--armor", "--", ...select.map(str)]);
    if (chosen.stdout.length > 0) return await importWith(gpg, chosen.stdout);
    const message = "After filtering, no keys to import were left.";
    return new Map<Value, Value>([["res", true], ["message", message], ["fingerprints", []]]);
  } finally {
    removeIfExists(keyring);
    removeIfExists(`${keyring}~`);
  }
}

export const export_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return keys, armored: in \`comment\` of a map with \`res\`, or alone.

keyids
    A list, or a text with commas, of key ids, fingerprints or addresses.

secret : False
    Whether the secret keys are meant.

use_passphrase : False
    Whether the \`gpg_passphrase\` of the pillar is given to gpg with secret keys.

output
    A file that gets the keys; \`comment\` says so then.

bare : False
    Whether the keys are returned alone; False if there are none.${WHOSE}`,
    "gpg.export_key keyids=3FAD9F1E",
    "gpg.export_key keyids=\"['3FAD9F1E','3FBD8F1E']\" user=username",
  ),
  permissions: "all",
  params: {
    keyids: p.any(null),
    secret: p.bool(false),
    user: p.str(null),
    gnupghome: p.str(null),
    use_passphrase: p.bool(false),
    output: p.str(null),
    bare: p.bool(false),
    keyring: p.any(null),
  },
  run: async ({ keyids, secret, use_passphrase, output, bare, ...keychain }, context) => {
    if (keyids === null) throw new InvocationError("keyids must be passed.");
    const gpg = await openGpg(keychain, context);
    const passphrase = secret && use_passphrase ? await passphraseOf(context) : undefined;
    if (secret && use_passphrase && passphrase === undefined) {
      throw new InvocationError("gpg_passphrase not available in pillar.");
    }
    const words = [secret ? "--export-secret-key" : "--export", "--armor", "--", ...wordsOf(keyids)];
    const { stdout } = await gpg.run(words, passphrase === undefined ? {} : { passphrase });
    if (stdout.length === 0) return bare ? false : { res: false };
    const keys = new TextDecoder().decode(stdout);
    if (truthy(output)) writeGpgOutput(output ?? "", stdout);
    if (bare) return keys;
    return { res: true, comment: truthy(output) ? `Exported key data has been written to ${output}` : keys };
  },
});

/** What is said of a key by gpg's number for what is new of it. */
const RECEIVED: Readonly<Record<string, string>> = {
  "0": "already exists in keychain",
  "1": "added to keychain",
  "4": "updated: new signatures",
  "8": "updated: new subkeys",
};

export const receive_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch keys from a key server into a keyring. Returns \`res\` and \`message\`, a list.

keyserver
    Default: ${DEFAULT_KEY_SERVER}.

keys
    A list, or a text with commas, of key ids.${WHOSE}`,
    "gpg.receive_keys keys='3FAD9F1E'",
    "gpg.receive_keys keys=\"['3FAD9F1E','3FBD9F2E']\"",
  ),
  permissions: "all",
  params: { keyserver: p.str(null), keys: p.any(null), ...KEYCHAIN },
  run: ({ keyserver, keys, ...keychain }, context) => {
    if (keys === null) throw new InvocationError("keys must be passed.");
    return withOwnership(keychain, context, async (gpg) => {
      const words = ["--keyserver", keyserver || DEFAULT_KEY_SERVER, "--recv-keys", "--", ...wordsOf(keys)];
      const { status, stderr } = await gpg.run(words);
      const result = readImport(status);
      const message = result.keys.flatMap(({ fingerprint, ok, problem }) => {
        if (ok === undefined) return [`Unable to add key to keychain: ${problem}`];
        return Object.hasOwn(RECEIVED, ok) ? [`Key ${fingerprint} ${RECEIVED[ok]}`] : [];
      });
      const res = result.notImported === 0 && result.fingerprints.length > 0;
      return { res, message: res ? message : [...message, `GPG reported failure: ${stderr}`] };
    });
  },
});

/** gpg's number for an owner's trust, and how Salt shows it. */
const OWNER_TRUST: Readonly<Record<string, readonly [number, string]>> = {
  expired: [1, "Expired"],
  unknown: [2, "Unknown"],
  not_trusted: [3, "Not Trusted"],
  marginally: [4, "Marginally"],
  fully: [5, "Fully Trusted"],
  ultimately: [6, "Ultimately Trusted"],
};

export const trust_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set how far the owner of a key is trusted. Returns \`res\`, \`message\` and \`fingerprint\`.

keyid, fingerprint
    The key; one of the two.

trust_level
    ${Object.keys(OWNER_TRUST).join(", ")}.${WHOSE}`,
    "gpg.trust_key keyid='3FAD9F1E' trust_level='marginally'",
  ),
  permissions: "all",
  params: { keyid: p.str(null), fingerprint: p.str(null), trust_level: p.str(null), ...KEYCHAIN },
  run: async ({ keyid, fingerprint, trust_level, ...keychain }, context) => {
    if (truthy(keyid) === truthy(fingerprint)) {
      throw new InvocationError("Exactly one of keyid or fingerprint is required");
    }
    if (trust_level === null || !Object.hasOwn(OWNER_TRUST, trust_level)) {
      throw new InvocationError(`ERROR: Valid trust levels - ${Object.keys(OWNER_TRUST).join(",")}`);
    }
    const key = await oneKey({ keyid, fingerprint, ...keychain }, false, context);
    if (key === false) return { res: false, message: `Key ${keyid || fingerprint} not in GPG keychain` };
    const keyFingerprint = fingerprint || str(key.get("fingerprint") ?? "");
    if (keyFingerprint === "") return { res: false, message: `Fingerprint not found for keyID ${keyid}` };
    const gpg = await openGpg(keychain, context);
    const [number, words] = OWNER_TRUST[trust_level];
    const { retcode } = await gpg.run(["--import-ownertrust"], { input: `${keyFingerprint}:${number}:\n` });
    if (retcode !== 0) throw new CommandError(`gpg returned an error - return code ${retcode}`);
    return { res: true, message: `Setting ownership trust to ${words}.`, fingerprint: keyFingerprint };
  },
});
