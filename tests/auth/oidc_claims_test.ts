/** Who a user of a provider is: names that mean something else, or show something else, are none. */

import { oidcGroupNames, OidcRefusedError, oidcUserName } from "#lib/auth/oidc_claims.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a name is a text of 256 characters at most that shows nothing else, and no word of external_auth", () => {
  const named = (name: unknown) => oidcUserName({ name }, "name");
  for (const name of ["alice", "a*", "Zoë", "x".repeat(256)]) assertEquals(named(name), name);
  for (const name of ["", "x".repeat(257), "a\nb", "a\x1b[2J", "*", "^issuer", "admins%"]) {
    assertThrows(() => named(name), OidcRefusedError, "is no name of a user");
  }
  for (const name of [undefined, null, 7, ["alice"]]) {
    assertThrows(() => named(name), OidcRefusedError, "gives no claim name");
  }
});

Deno.test("an address is a name only if the provider has verified it; other claims need no verification", () => {
  const email = "alice@example.org";
  assertEquals(oidcUserName({ email, email_verified: true }, "email"), email);
  assertEquals(oidcUserName({ sub: "alice", email }, "sub"), "alice");
  for (const email_verified of [undefined, false, "true", 1]) {
    assertThrows(() => oidcUserName({ email, email_verified }, "email"), OidcRefusedError, "has not verified");
  }
});

Deno.test("groups are texts, a thousand of 256 characters at most", () => {
  const many = (length: number, name = "g") => Array.from({ length }, () => name);
  assertEquals(oidcGroupNames(["ops", 7, null, "web"]), ["ops", "web"]);
  assertEquals([oidcGroupNames("ops"), oidcGroupNames(undefined), oidcGroupNames({})], [["ops"], [], []]);
  assertEquals(oidcGroupNames(many(1_000, "x".repeat(256))).length, 1_000);
  for (const groups of [many(1_001), ["x".repeat(257)]]) {
    assertThrows(() => oidcGroupNames(groups), OidcRefusedError, "more than 1000 groups");
  }
});
