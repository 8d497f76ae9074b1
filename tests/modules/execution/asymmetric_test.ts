import { InvocationError } from "#lib/errors.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "asymmetric");

interface Key {
  readonly kind: string;
  readonly public: string;
  readonly private: string;
  readonly encrypted: string;
  readonly der: string;
  readonly signatures: Readonly<Record<string, string>>;
}

const { text, passphrase, keys }: {
  readonly text: string;
  readonly passphrase: string;
  readonly keys: readonly Key[];
} = JSON.parse(Deno.readTextFileSync(new URL("../../corpus/asymmetric.json", import.meta.url)));

function call(fun: "sign" | "verify", kwargs: Readonly<Record<string, unknown>>): Promise<Value> {
  return testContext().call(`asymmetric.${fun}`, [], map(kwargs));
}

const VALID = map({ res: true, message: "The signature is valid" });

const ALL = map({ res: true, message: "All required keys have provided a signature" });

async function withFile(work: (path: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "asymmetric_" });
  try {
    await Deno.writeTextFile(`${directory}/data`, text);
    await work(`${directory}/data`, directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

for (const key of keys) {
  Deno.test(`asymmetric.verify accepts Salt's signatures by a key of ${key.kind}, of a text and of a file`, async () => {
    await withFile(async (filename) => {
      for (const [digest, signature] of Object.entries(key.signatures)) {
        for (const what of [{ text }, { filename }]) {
          assertEquals(await call("verify", { ...what, signature, digest, pubkey: key.public }), VALID, digest);
        }
      }
      const [digest, signature] = Object.entries(key.signatures)[0];
      const other = await call("verify", { text: `${text}.`, signature, digest, pubkey: key.der });
      const name = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.fromHex(key.der))).toHex();
      const message = `Failed checking signature: Invalid signature for key ${name}`;
      assertEquals(other, map({ res: false, message }));
    });
  });

  Deno.test(`asymmetric.sign with a key of ${key.kind} makes signatures that verify accepts, of a text and of a file`, async () => {
    await withFile(async (filename, directory) => {
      for (const digest of Object.keys(key.signatures)) {
        const signature = await call("sign", { privkey: key.private, text, digest });
        assertEquals(await call("verify", { text, signature, digest, pubkey: key.public }), VALID, digest);
      }
      const path = `${directory}/signature`;
      const options = { privkey: key.encrypted, passphrase, filename, path };
      assertEquals(await call("sign", options), `Signature written to '${path}'`);
      assertEquals(await call("verify", { filename, signature: path, signed_by_all: [key.public] }), ALL);
    });
  });
}

Deno.test("asymmetric.sign reports errors of a passphrase", async () => {
  const [{ private: plain, encrypted }] = keys;
  const refused = (kwargs: Readonly<Record<string, unknown>>, reason: string) =>
    assertRejects(() => call("sign", { text, ...kwargs }), InvocationError, reason);
  await refused({ privkey: encrypted }, "Private key is encrypted. Please provide a password.");
  await refused({ privkey: encrypted, passphrase: "x" }, "Bad decrypt - is the password correct?");
  await refused({ privkey: plain, passphrase: "x" }, "Private key is unencrypted. Please remove the password.");
});

Deno.test("asymmetric.verify requires a signature by one of several keys, or by all of them", async () => {
  const [one, two, three] = keys;
  const signature = [one, two].map(({ signatures }) => signatures.sha256);
  assertEquals(await call("verify", { text, signature, signed_by_any: [three.public, two.public] }), ALL);
  assertEquals(await call("verify", { text, signature, signed_by_all: [one.public, two.public] }), ALL);
  const among = ["chaos is a ladder", ...signature];
  assertEquals(await call("verify", { text, signature: among, signed_by_any: [two.public] }), ALL);
  assertEquals(
    await call("verify", { text, signature, signed_by_any: three.public }),
    map({ res: false, message: "None of the public keys listed in signed_by_any provided a valid signature" }),
  );
});

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("asymmetric names the file, URL or signature that it cannot use", async () => {
  const [{ private: privkey, public: pubkey, signatures }] =
    JSON.parse(Deno.readTextFileSync(new URL("../../corpus/asymmetric.json", import.meta.url))).keys;
  await withTemporaryDirectory(async (root) => {
    const context = minion({ "cp.cache_file": false });
    const at = `${root}/signature`;
    assertEquals(
      await resultOrError(context, "asymmetric.sign", [privkey], { text: "x", path: root }),
      `[Errno 21] Is a directory: '${root}'`,
    );
    const given = { text: "x", digest: "sha256" };
    const lost = "Failed fetching 'https://example.com/x.sig'";
    assertEquals(
      await resultOrError(context, "asymmetric.verify", [], {
        ...given,
        pubkey,
        signature: "https://example.com/x.sig",
      }),
      map({ res: false, message: lost }),
    );
    const options = { ...given, signed_by_any: [pubkey], signature: ["https://example.com/x.sig"] };
    assertEquals(
      await resultOrError(context, "asymmetric.verify", [], options),
      "Unable to locate any of the provided signatures",
    );
    assertEquals(context.logged.at(-1), `error: ${lost}`);
    assertEquals(
      await resultOrError(context, "asymmetric.verify", [], { ...given, pubkey, signature: "s\u00ebgnature" }),
      map({
        res: false,
        message: "Failed checking signature: Failed loading signature 's\u00ebgnature' as file and/or base64 string",
      }),
    );
    assertEquals(
      await resultOrError(context, "asymmetric.sign", [privkey], { text: "x", path: at }),
      `Signature written to '${at}'`,
    );
    const bytes = new TextEncoder().encode(pubkey);
    const verified = await resultOrError(context, "asymmetric.verify", [], {
      ...given,
      pubkey: bytes,
      signature: `file://${at}`,
    });
    assertEquals(verified, map({ res: true, message: "The signature is valid" }));
    assert(typeof signatures.sha256 === "string");
  });
});
