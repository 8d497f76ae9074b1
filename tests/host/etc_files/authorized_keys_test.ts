import { expandTokens } from "#lib/host/etc_files/authorized_keys.ts";
import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const ANNA = { user: "anna", home: "/home/anna" };

Deno.test("sshd's tokens in the path of AuthorizedKeysFile are replaced; other tokens are refused", () => {
  assertEquals(expandTokens("%h/.ssh/%u%%keys", ANNA), "/home/anna/.ssh/anna%keys");
  assertThrows(() => expandTokens("/keys/%", ANNA), CommandError, "can't be escape character");
  assertThrows(() => expandTokens("/keys/%k", ANNA), CommandError, 'unknown token character "%k"');
});
