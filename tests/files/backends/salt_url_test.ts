import { createSaltUrl, isEscapedUrl, splitQuery, splitSaltUrl, unescapeUrl } from "#lib/files/backends/salt_url.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The results of Salt 3008.3 (`salt/utils/url.py` parse, is_escaped, unescape). */
const URLS: readonly [url: string, path: string, saltenv: string | undefined, escaped: boolean, unescaped: string][] = [
  ["salt://a/b", "a/b", undefined, false, "salt://a/b"],
  ["salt://a/b?saltenv=dev", "a/b", "dev", false, "salt://a/b?saltenv=dev"],
  ["salt:///a", "a", undefined, false, "salt://a"],
  ["salt://a?env=x", "a", undefined, false, "salt://a"],
  ["a/b?saltenv=dev", "a/b?saltenv=dev", undefined, false, "a/b?saltenv=dev"],
  ["salt://|a?b", "|a?b", undefined, true, "salt://a?b"],
  ["|a", "|a", undefined, true, "a"],
  ["||a", "||a", undefined, true, "a"],
  ["a", "a", undefined, false, "a"],
  ["salt://a?x=1&saltenv=y", "a?x=1&saltenv=y", undefined, false, "salt://a?x=1&saltenv=y"],
  ["salt://a?saltenv=x?saltenv=y", "a", "x?saltenv=y", false, "salt://a?saltenv=x?saltenv=y"],
  ["http://h/|a", "http://h/|a", undefined, false, "http://h/|a"],
  ["salt://a|b", "a|b", undefined, false, "salt://a|b"],
  ["salt://?saltenv=dev", "", "dev", false, "salt://?saltenv=dev"],
  ["salt://a?saltenv=", "a", "", false, "salt://a"],
];
for (const [url, path, saltenv, escaped, unescaped] of URLS) {
  Deno.test(`${url} is parsed as Salt does`, () => {
    assertEquals(splitSaltUrl(url), saltenv === undefined ? { path } : { path, saltenv });
    assertEquals(isEscapedUrl(url), escaped);
    // Salt does not change a URL that is not escaped.
    if (escaped) assertEquals(unescapeUrl(url), unescaped);
  });
}

Deno.test("a salt:// URL is made of a path and an environment", () => {
  assertEquals(createSaltUrl("a/b", "dev"), "salt://a/b?saltenv=dev");
  assertEquals(createSaltUrl("a\\b"), "salt://a/b");
});

Deno.test("a path from a minion has options after its ?, unless it begins with |", () => {
  assertEquals(splitQuery("a?saltenv=dev&index=1&x&env=y"), {
    path: "a",
    query: new Map([["saltenv", "dev"], ["index", "1"]]),
  });
  assertEquals(splitQuery("|a?saltenv=dev"), { path: "a?saltenv=dev", query: new Map() });
});
