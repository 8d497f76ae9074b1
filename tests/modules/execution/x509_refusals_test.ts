/**
 * Results and errors of the module `x509` for unusual or invalid names, extensions and documents:
 * tests/corpus/make_x509_refusals.py.
 */

import { messageOf } from "#lib/errors.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

/** A call, and the error text, or the fields that are read from its result. */
interface Case {
  readonly fun: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly read?: unknown;
}

const read = (name: string) => JSON.parse(Deno.readTextFileSync(new URL(`../../corpus/${name}`, import.meta.url)));
const known = read("x509.json");
const cases: readonly Case[] = read("x509_refusals.json");

interface Made {
  readonly name: string;
  readonly made: { readonly value: string };
}

const certificates: readonly Made[] = known.certificates;
const KEY: string = known.keys.rsa2048.private, CERT = certificates[0].made.value;
const PUBLIC: string = known.keys.ec256.public;
const GIVEN: Readonly<Record<string, string>> = {
  "{key}": KEY,
  "{public}": PUBLIC,
  "{cert}": CERT,
  "{ec key}": known.keys.ec256.private,
  "{plain cert}": certificates.find(({ name }) => name === "plain")?.made.value ?? "",
};
const TIMES = { not_before: "2026-01-01 00:00:00", not_after: "2036-01-01 00:00:00" };
const SIGNING = { signing_private_key: KEY, signing_cert: CERT };
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  create_certificate: { serial_number: "0A:0B", ...TIMES, CN: "x", ...SIGNING, public_key: PUBLIC },
  create_csr: { private_key: KEY, CN: "x" },
  create_crl: { ...SIGNING, days_valid: 36_500 },
};
const KIND: Readonly<Record<string, string>> = {
  create_certificate: "certificate",
  create_csr: "csr",
  create_crl: "crl",
};

async function call(fun: string, args: Readonly<Record<string, unknown>>): Promise<Value> {
  return await testContext().call(`x509.${fun}`, [], map(args));
}

const SHOWN: readonly Value[] = [
  ...["version", "serial_number", "subject", "not_before", "not_after", "extensions", "revoked_certificates"],
];

/** The fields of a document that the corpus contains. */
function shown(document: Value): Value {
  return isMap(document) ? new Map([...document].filter(([name]) => SHOWN.includes(name))) : document;
}

async function answer({ fun, args }: Case): Promise<Pick<Case, "error" | "read">> {
  const argEntries = Object.entries(args).map((
    [name, value],
  ) => [name, typeof value === "string" ? GIVEN[value] ?? value : value]);
  try {
    const made = await call(fun, { ...DEFAULTS[fun], ...Object.fromEntries(argEntries) });
    const kind = KIND[fun];
    return { read: shown(kind === undefined ? made : await call(`read_${kind}`, { [kind]: made })) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

for (const [fun, its] of Map.groupBy(cases, ({ fun }) => fun)) {
  Deno.test(`x509.${fun} rejects and accepts the same as Salt's, with its texts`, async () => {
    for (const each of its) {
      const expected = each.error === undefined
        ? { read: map({ read: each.read }).get("read") }
        : { error: each.error };
      assertEquals(await answer(each), expected, JSON.stringify(each.args));
    }
  });
}
