/**
 * Texts read and written as Python's own modules do: tests/corpus/make_texts.py.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { readCsv } from "#lib/text/csv.ts";
import { encodeText, streamDecoder } from "#lib/text/encoding.ts";
import { filterBy } from "#lib/text/filter_by.ts";
import { parseHostPort } from "#lib/text/host_port.ts";
import { addressText, expandIpv6 } from "#lib/text/ip_address.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { hasPassword, hideCredentials, withCredentials } from "#lib/text/url_credentials.ts";
import { parseXml, type XmlElement } from "#lib/text/xml.ts";
import { map, type Value } from "#lib/values/value.ts";
import corpus from "#tests/corpus/texts.json" with { type: "json" };
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("tables of values between commas are read as by Python's csv", () => {
  for (const { text, dialect, rows } of corpus.csv) {
    if (rows === null) assertThrows(() => readCsv(text, dialect), Error, "unknown dialect");
    else assertEquals(readCsv(text, dialect), rows, JSON.stringify(text));
  }
});

Deno.test("differences of texts are shown as by Python's difflib", () => {
  for (const { a, b, diff } of corpus.diffs) assertEquals(unifiedDiff(a, b), diff, JSON.stringify([a, b]));
});

function plain({ name, attributes, children, text }: XmlElement): unknown {
  return { name, attributes: Object.fromEntries(attributes), children: children.map(plain), text };
}

Deno.test("documents of XML are read as by Python's ElementTree, up to a hundred elements deep", () => {
  for (const { text, root } of corpus.xml) {
    const deep = text.startsWith("<a>".repeat(101));
    if (root === null || deep) assertThrows(() => parseXml(text), SyntaxError, deep ? "too deep" : "", text);
    else assertEquals(plain(parseXml(text)), root, text);
  }
});

Deno.test("addresses of IPv6 are read as by Python's ipaddress", () => {
  for (const { text, digits } of corpus.addresses) assertEquals(expandIpv6(text) ?? null, digits, text);
  assertEquals(addressText("0a000001"), "10.0.0.1");
  assertEquals(addressText("20010db8000000000000000000000001"), "2001:db8::1");
  assertEquals(addressText("no address"), "no address");
});

Deno.test("texts are encoded in single bytes as by Python", () => {
  for (const { text, name, errors, hex } of corpus.encodings) {
    if (hex === null) assertThrows(() => encodeText(text, name, errors), InvocationError, "can't encode character");
    else assertEquals(encodeText(text, name, errors).toHex(), hex, `${text} ${name} ${errors}`);
  }
  assertThrows(() => encodeText("a", "utf-7"), InvocationError, "utf-7");
});

Deno.test("a text that comes in pieces is decoded character by character", () => {
  const bytes = new TextEncoder().encode("é€");
  const decode = streamDecoder("utf-8");
  assertEquals(
    Array.from(bytes, (byte) => decode(Uint8Array.of(byte), false)).join("") + decode(new Uint8Array(), true),
    "é€",
  );
  assertEquals(streamDecoder("ascii")(Uint8Array.of(0x61), false), "a");
  assertThrows(() => streamDecoder("utf-32"), InvocationError, "while it is written");
});

Deno.test("credentials are hidden in texts, and are in URLs of https alone", () => {
  assertEquals(hideCredentials("fetch https://me:pw@h/x: no"), "fetch https://<redacted>@h/x: no");
  assertEquals([hasPassword("see ssh://a:b@h/x"), hasPassword("see https://a@h/x")], [true, false]);
  assertEquals(withCredentials("https://h/x", "a b", "it's(1)!"), "https://a%20b:it%27s%281%29%21@h/x");
  assertEquals(withCredentials("http://h/x", null, null), "http://h/x");
  assertThrows(() => withCredentials("http://h/x", "a", null), InvocationError, "only supported for HTTPS");
});

Deno.test("what is no host is refused", () => {
  for (const text of ["", "a b", "[::1", "a/b", ":4506"]) {
    assertThrows(() => parseHostPort(text), RangeError, "is no host or host:port", text);
  }
});

Deno.test("filter_by refuses to merge what is no dictionary", () => {
  const table = map({ Debian: "text", RedHat: { a: 1 }, default: { b: 2 } });
  const options = { merge: null, fallback: "default", base: null };
  assertEquals(filterBy(table, "RedHat", { ...options, base: "default" }), map({ b: 2, a: 1 }));
  const refused: readonly (readonly [Value, Partial<typeof options> | object, string])[] = [
    ["RedHat", { merge: "x" }, "merge argument must be a dictionary"],
    ["Debian", { merge: map({ c: 3 }) }, "Cannot update using non-dict types"],
    ["Debian", { base: "default" }, "default and look-up values must both be dictionaries"],
  ];
  for (const [value, changes, message] of refused) {
    assertThrows(() => filterBy(table, value, { ...options, ...changes }), CommandError, message);
  }
});
