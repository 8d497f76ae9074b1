/** Signatures of fetched files: the calls that verify them, and the removal of files with an invalid signature. */

import { CommandError } from "#lib/errors.ts";
import { checkSignature, missingBackend, type SignedFile, signersOf } from "#lib/host/gnupg/file_signature.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";

const SIGNERS = { signed_by_any: "A", signed_by_all: null, keyring: null, gnupghome: "/keys", sig_backend: "gpg" };

/** A minion with a cache; the test sets the answers of its calls. */
class Minion implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "signature_" });
  readonly cache = `${this.root}/cache`;
  readonly calls: Value[] = [];
  /** The results of `cp.cache_file`, by URL. */
  readonly cached: Record<string, Value> = {};
  verified: Value = map({ res: true });

  constructor() {
    Deno.mkdirSync(this.cache);
  }

  file(path: string): string {
    Deno.writeTextFileSync(`${this.root}/${path}`, path);
    return `${this.root}/${path}`;
  }

  get context() {
    return testContext({
      opts: { ...testOpts(), cachedir: this.cache },
      catalogue: loadCatalogue({ extensionModules: this.root }),
      call: (name, args = [], kwargs = new Map()) => {
        this.calls.push([name, ...args, kwargs]);
        return Promise.resolve(name === "cp.cache_file" ? this.cached[String(args[0])] ?? false : this.verified);
      },
    });
  }

  check(given: Partial<SignedFile> & { readonly path: string }, sig_backend = "gpg"): Promise<void> {
    const file = { signature: true, saltenv: "base", ...given };
    return checkSignature(file, signersOf({ ...SIGNERS, sig_backend }), this.context);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** The arguments of `verify`. */
function verifyArguments(filename: string, signature: Value): ValueMap {
  const { sig_backend: _backend, ...signers } = SIGNERS;
  return map({ filename, signature, ...signers });
}

Deno.test("a signature inside a file, a separate one and several are passed to the module that verifies", async () => {
  using minion = new Minion();
  const path = minion.file("f");
  await minion.check({ path });
  assertEquals(minion.calls.splice(0), [["gpg.verify", verifyArguments(path, null)]]);
  minion.cached["salt://f.sig"] = "/cache/f.sig";
  await minion.check({ path, signature: "salt://f.sig", saltenv: "dev", verifySsl: false });
  assertEquals(minion.calls.splice(0), [
    ["cp.cache_file", "salt://f.sig", "dev", map({ verify_ssl: false })],
    ["gpg.verify", verifyArguments(path, "/cache/f.sig")],
  ]);
  minion.cached["http://b"] = "/cache/b";
  await minion.check({ path, signature: ["salt://f.sig", "http://b"] });
  assertEquals(minion.calls.at(-1), ["gpg.verify", verifyArguments(path, ["/cache/f.sig", "/cache/b"])]);
});

Deno.test("a signature that cannot be fetched is an error with gpg; another module gets its URL", async () => {
  using minion = new Minion();
  await Deno.mkdir(`${minion.root}/modules`);
  await Deno.writeTextFile(`${minion.root}/modules/notary.js`, "export const verify = () => true;");
  const path = minion.file("f");
  await assertRejects(
    () => minion.check({ path, signature: "notary:f" }),
    CommandError,
    "Detached signature file notary:f not found",
  );
  minion.calls.splice(0);
  await minion.check({ path, signature: "notary:f" }, "notary");
  assertEquals(minion.calls.at(-1), ["notary.verify", verifyArguments(path, "notary:f")]);
});

Deno.test("without the module nothing can be verified, and the file is rejected", async () => {
  using minion = new Minion();
  const path = minion.file("f");
  assertEquals(await missingBackend(SIGNERS, minion.context), undefined);
  assertEquals(
    await missingBackend({ ...SIGNERS, sig_backend: "asymmetrix" }, minion.context),
    "Cannot verify signatures because the asymmetrix module was not loaded",
  );
  await assertRejects(
    () => minion.check({ path }, "asymmetrix"),
    CommandError,
    "Signature verification requires the asymmetrix module, which could not be found.",
  );
  assertEquals(minion.calls, []);
});

Deno.test("of a file with an invalid signature only the copies in the cache are removed", async () => {
  using minion = new Minion();
  for (const verified of [map({ res: false, message: "no" }), map({}), null]) {
    const [path, own] = [minion.file("cache/f"), minion.file("own.sig")];
    Object.assign(minion.cached, { "http://a": minion.file("cache/a"), "http://b": own });
    minion.verified = verified;
    const reason = verified?.has("message") ? "no" : "";
    const { message } = await assertRejects(
      () => minion.check({ path, signature: ["http://a", "http://b"] }),
      CommandError,
    );
    assertEquals(message, `The file's signature could not be verified: ${reason}`);
    assertEquals(["cache/f", "cache/a", "own.sig"].map((name) => lexistsOrThrow(`${minion.root}/${name}`)), [
      false,
      false,
      true,
    ]);
  }
});
