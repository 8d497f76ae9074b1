/**
 * The module `x509` with files, signing policies, other minions and rare signatures, compared with Python Salt:
 * tests/corpus/x509_files.json, made by make_x509_files.py.
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { type TestContext, testContext } from "#tests/support/calls/job_context.ts";
import { messageOf } from "#lib/errors.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { makeTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Call {
  readonly fun: string;
  readonly args: unknown;
  readonly value?: unknown;
  readonly error?: string;
}

interface Situation {
  readonly name: string;
  readonly calls: readonly Call[];
  /** The files at the end, by name, in base64. */
  readonly files: Readonly<Record<string, string>>;
}

function read<T>(file: string): T {
  return JSON.parse(Deno.readTextFileSync(new URL(`../../corpus/${file}`, import.meta.url)));
}

const made: {
  readonly keys: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly certificates: readonly { readonly made: { readonly value: string } }[];
  readonly requests: readonly { readonly made: { readonly value: string } }[];
} = read("x509.json");
const corpus: { readonly policies: unknown; readonly situations: readonly Situation[] } = read("x509_files.json");

/** A text of the corpus with its placeholders replaced. */
function resolvedText(raw: string, folder: string): string {
  if (raw === "@ca") return made.certificates[0].made.value;
  if (raw === "@csr") return made.requests[0].made.value;
  const [, key, part] = /^@(\w+)\.(\w+)$/.exec(raw) ?? [];
  return key === undefined ? raw.replaceAll("{dir}", folder) : made.keys[key][part];
}

/** A value of the corpus. */
function resolved(raw: unknown, folder: string): Value {
  if (typeof raw === "string") return resolvedText(raw, folder);
  if (Array.isArray(raw)) return raw.map((one) => resolved(one, folder));
  if (typeof raw !== "object" || raw === null) return map({ raw }).get("raw") ?? null;
  const entries = Object.entries(raw);
  if (entries.length === 1 && entries[0][0] === "!bytes") return Uint8Array.fromHex(str(entries[0][1]));
  return new Map(entries.map(([name, value]) => [resolvedText(name, folder), resolved(value, folder)]));
}

function resolvedMap(raw: unknown, folder: string): ValueMap {
  const value = resolved(raw, folder);
  assert(isMap(value));
  return value;
}

/** A minion with the policies of the corpus; other minions answer as in the corpus. */
function minion(): TestContext {
  const pillar: ValueMap = map({ x509_signing_policies: resolved(corpus.policies, "") });
  const context: TestContext = testContext({
    pillar,
    call: async (name, args, kwargs) => {
      if (name !== "publish.publish") return await callFunction(name, { args, kwargs, context });
      const [target, fun] = args ?? [];
      assertEquals(fun, "x509.sign_remote_certificate");
      if (target === "nobody") return new Map();
      if (target === "strange") return map({ strange: "no such function" });
      const sent = kwargs?.get("arg");
      assert(Array.isArray(sent));
      const asker = map({ __pub_id: "web2" });
      return new Map([[target, await callFunction(str(fun), { args: sent, kwargs: asker, context })]]);
    },
  });
  return context;
}

for (const { name, calls, files } of corpus.situations) {
  Deno.test(`x509 gives Salt's results: ${name}`, async (t) => {
    const folder = makeTemporaryDirectory("x509_");
    const context = minion();
    try {
      for (const [index, { fun, args, value, error }] of calls.entries()) {
        await t.step(`${index} ${fun}`, async () => {
          let answer: { value?: Value; error?: string };
          try {
            answer = { value: await context.call(fun, [], resolvedMap(args, folder)) };
          } catch (thrown) {
            answer = { error: messageOf(thrown) };
          }
          const expected = error === undefined
            ? { value: resolved(value, folder) }
            : { error: resolvedText(error, folder) };
          assertEquals(answer, expected, JSON.stringify(args));
        });
      }
      const contents = new Map<string, string>();
      for await (const { name: file } of Deno.readDir(folder)) {
        if (file.endsWith(".any")) continue;
        const path = `${folder}/${file}`;
        contents.set(file, (await Deno.readFile(path)).toBase64());
      }
      assertEquals(Object.fromEntries([...contents].sort()), files);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
