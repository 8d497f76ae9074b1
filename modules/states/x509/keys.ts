/**
 * The functions of the state module `x509` for private keys and other blocks of PEM.
 * Source: Salt 3008.3 `salt/states/x509_v2.py`.
 * @module
 */

import { changesOnly } from "./comparing.ts";
import {
  absent,
  type CheckedDocument,
  type DocumentPlace,
  FILE_DOC,
  manage,
  refuseOthers,
  splitArguments,
} from "./files.ts";
import { loadPrivateKey } from "#lib/crypto/asymmetric_keys.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, stateResult } from "#lib/plugins/state_module.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { keyKind } from "#lib/host/x509/documents.ts";
import { PASSPHRASE_ERRORS, spkiOf } from "#lib/host/x509/loading.ts";
import type { KeyObject } from "node:crypto";

export const pem_managed: ModuleFunction<StateContext> = stateFn({
  doc: `A file has the contents of a PEM block.\n\ntext\n    The PEM block.\n\n${FILE_DOC}`,
  params: { name: p.str(), text: p.any() },
  varKwargs: "kwargs",
  run: async ({ name, text }, context, { kwargs }) => {
    const { file, others } = splitArguments(kwargs);
    refuseOthers(others);
    try {
      const contents = await context.call("x509.get_pem_entry", [], map({ text }));
      file.set("contents", contents instanceof Uint8Array ? new TextDecoder().decode(contents) : contents);
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
      return failState(name, error.message);
    }
    return stateResult(await context.state("file.managed", new Map([...file, ["name", name]])));
  },
});

/** A private key in a file. */
interface CurrentKey {
  /** `undefined`: it cannot be read, and may be replaced. */
  readonly key: KeyObject | undefined;
  /** Whether its passphrase is another one. */
  readonly passphrase: boolean;
}

/**
 * Reads the key of a file.
 * @throws {CommandError} If it cannot be read and may not be replaced.
 */
function currentKey(path: string, passphrase: string | null, overwrite: boolean): CurrentKey {
  const replaceKey = (passphrase: boolean, refusal: string): CurrentKey => {
    if (overwrite) return { key: undefined, passphrase };
    throw new CommandError(refusal);
  };
  try {
    return { key: loadPrivateKey(path, passphrase), passphrase: false };
  } catch (error) {
    if (!(error instanceof InvocationError)) throw error;
    const [wrong, missing, superfluous] = PASSPHRASE_ERRORS;
    switch (error.message) {
      case superfluous:
        return { key: loadPrivateKey(path, null), passphrase: true };
      case wrong:
        return replaceKey(
          true,
          "The provided passphrase cannot decrypt the private key. Pass overwrite: true to force regeneration",
        );
      case missing:
        return replaceKey(
          true,
          "The existing file is encrypted. Pass overwrite: true to force regeneration without passphrase",
        );
      default:
        return replaceKey(
          false,
          "The existing file does not seem to be a private key formatted as DER, PEM or embedded in PKCS12. " +
            "Pass overwrite: true to force regeneration",
        );
    }
  }
}

/** The differences of a key from the requested one. */
function keyChanges(
  key: KeyObject,
  path: string,
  { algo, keysize, encoding }: { readonly algo: string; readonly keysize: Value; readonly encoding: string },
): ValueMap {
  const changes: ValueMap = new Map();
  const { type, size } = keyKind(spkiOf(key));
  const wanted = keysize ?? (algo === "rsa" ? 2048 : 256);
  // An unknown algorithm is reported when the key is created.
  if (["rsa", "ec", "ed25519", "ed448"].includes(algo) && type !== algo) changes.set("algo", algo);
  else if ((algo === "rsa" || algo === "ec") && size !== wanted) changes.set("keysize", wanted);
  const isPem = new TextDecoder("latin1").decode(Deno.readFileSync(path)).includes("-----BEGIN");
  if (encoding !== (isPem ? "pem" : "der")) changes.set("encoding", encoding);
  return changes;
}

export const private_key_managed: ModuleFunction<StateContext> = stateFn({
  doc: `A file is a private key.

algo : rsa
    rsa, ec, ed25519 or ed448.

keysize
    2048 (default), 3072 or 4096 bits of RSA; 256 (default), 384 or 521 of curves.

passphrase, encoding : pem
    The passphrase to encrypt it with, and pem or der.

new : False
    Whether a new key is created in each run.

overwrite : False
    Whether a file is replaced that is no key, or that this passphrase does not decrypt.

${FILE_DOC} The default of \`mode\` is 0400.`,
  params: {
    name: p.str(),
    algo: p.str("rsa"),
    keysize: p.any(null),
    passphrase: p.str(null),
    encoding: p.str("pem"),
    new: p.bool(false),
    overwrite: p.bool(false),
    pkcs12_encryption_compat: p.any(false),
  },
  varKwargs: "kwargs",
  run: ({ name, algo, passphrase, encoding, new: anew, overwrite, ...given }, context, { kwargs }) => {
    const { file, others } = splitArguments(kwargs);
    const keysize = others.get("bits") ?? given.keysize;
    for (const ignored of ["bits", "cipher", "verbose", "text"]) others.delete(ignored);
    refuseOthers(others);
    if (!truthy(file.get("mode") ?? null)) file.set("mode", "0400");
    if (truthy(keysize) && (algo === "ed25519" || algo === "ed448")) {
      return failState(name, `keysize is an invalid parameter for ${algo}`);
    }
    let key: KeyObject | undefined;
    const check = (place: DocumentPlace): CheckedDocument => {
      // Salt adds nothing here for a link that is not followed.
      if (!place.exists) return absent(name, { ...place, unlinks: false });
      if (anew) return { changes: new Map([["replaced", name]]), current: false, recreates: true };
      const current = currentKey(place.path, passphrase, overwrite);
      key = current.key;
      const changes: ValueMap = map(current.passphrase ? { passphrase: true } : {});
      const more = key === undefined
        ? map({ created: name })
        : keyChanges(key, place.path, { algo, keysize, encoding });
      return { changes: new Map([...changes, ...more]), current: key !== undefined, recreates: true };
    };
    const make = (changes: ValueMap): Promise<Value> => {
      if (key !== undefined && changesOnly(changes, ["encoding", "passphrase"])) {
        const der = new Uint8Array(key.export({ type: "pkcs8", format: "der" }));
        return context.call("x509.encode_private_key", [der], map({ passphrase, encoding }));
      }
      return context.call("x509.create_private_key", [], map({ algo, keysize, passphrase, encoding }));
    };
    return manage(name, { what: "private key", file, encoding, check, make }, context);
  },
});
