import { hasPassword, hideCredentials } from "#lib/text/url_credentials.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("what stands between the first URL and the last @ of a line is hidden", () => {
  const cases = [
    ["see https://a:b@host/x", "see https://<redacted>@host/x"],
    ["HTTP://a@b http://c:d@e", "HTTP://<redacted>@e"],
    ["me@host http://a/", "me@host http://a/"],
    ["http://a@b\nftp://a:b@c\nhttps://c@d", "http://<redacted>@b\nftp://a:b@c\nhttps://<redacted>@d"],
  ];
  assertEquals(cases.map(([text]) => hideCredentials(text)), cases.map(([, hidden]) => hidden));
});

Deno.test("texts that were made to take long are read at once", () => {
  const text = "https://".repeat(500_000);
  assertEquals(hideCredentials(text), text);
  assertEquals(hasPassword(`${"a".repeat(3_000_000)}://${":".repeat(3_000_000)}`), false);
  assertEquals(hasPassword("git+https://user:word@host"), true);
});
