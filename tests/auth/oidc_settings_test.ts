/** The options of a provider of OpenID Connect: what is required, and what would send secrets in clear text. */

import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { oidcSettings } from "#lib/auth/oidc_settings.ts";
import { ConfigError } from "#lib/errors.ts";
import { map, toValue, type ValueMap } from "#lib/values/value.ts";

const GOOD = {
  "^issuer": "https://id.example/realms/ops",
  "^client_id": "salt",
  "^redirect_uri": "https://salt.example/login/oidc/callback",
  alice: ["test.*"],
};

function settings(oidc: Readonly<Record<string, unknown>>) {
  const external_auth: ValueMap = map({ oidc: toValue(oidc) });
  return oidcSettings({ external_auth });
}

Deno.test("a provider needs an issuer, a client and an address to come back to", () => {
  assertEquals(oidcSettings({ external_auth: new Map() }), undefined);
  // A module of the operator's own in Python has this name perhaps.
  assertEquals(settings({ alice: ["test.*"] }), undefined);
  const found = settings(GOOD);
  assertEquals([found?.issuer, found?.userClaim, found?.groupsClaim, found?.sessionS, found?.secretFile], [
    "https://id.example/realms/ops",
    "sub",
    "groups",
    null,
    null,
  ]);
  assertEquals(settings({ ...GOOD, "^session_hours": 8 })?.sessionS, 28_800);
  assertEquals(settings({ ...GOOD, "^issuer": "http://127.0.0.1:3000" })?.issuer, "http://127.0.0.1:3000");
  for (const host of ["localhost:3000", "[::1]:3000", "127.1.2.3"]) {
    assertEquals(settings({ ...GOOD, "^issuer": `http://${host}/realm` })?.issuer, `http://${host}/realm`);
  }
  for (const hours of [1, 720]) {
    assertEquals(settings({ ...GOOD, "^session_hours": hours })?.sessionS, hours * 3600);
  }
  const wrong: [Record<string, unknown>, string][] = [
    [{ "^issuer": null }, "^issuer is required"],
    [{ "^client_id": "" }, "^client_id is required"],
    [{ "^redirect_uri": null }, "^redirect_uri is required"],
    [{ "^issuer": "http://id.example" }, "^issuer must begin with https"],
    [{ "^issuer": "http://127.evil.example" }, "^issuer must begin with https"],
    [{ "^issuer": "https://user:word@id.example" }, "^issuer must be an address"],
    [{ "^issuer": "id.example" }, "^issuer must be an address"],
    [{ "^redirect_uri": "http://salt.example/login/oidc/callback" }, "^redirect_uri must begin with https"],
    [{ "^redirect_uri": "https://salt.example/login" }, "^redirect_uri must end with /login/oidc/callback"],
    [{ "^scope": "profile email" }, "^scope must have the word openid"],
    [{ "^issuer": "https://user@id.example" }, "^issuer must be an address"],
    [{ "^issuer": "https://:word@id.example" }, "^issuer must be an address"],
    [{ "^issuer": "https://id.example?realm=ops" }, "^issuer must be an address"],
    [{ "^issuer": "https://id.example#ops" }, "^issuer must be an address"],
    [{ "^issuer": "ftp://localhost/realm" }, "^issuer must begin with https"],
    [{ "^session_hours": 0 }, "^session_hours"],
    [{ "^session_hours": 721 }, "^session_hours"],
    [{ "^isuer": "x" }, "there is no option ^isuer"],
  ];
  for (const [changed, words] of wrong) {
    assertThrows(() => settings({ ...GOOD, ...changed }), ConfigError, words);
  }
});
