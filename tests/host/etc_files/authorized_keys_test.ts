import { expandTokens, parseAuthorizedKeys, removeKey, replaceKey } from "#lib/host/etc_files/authorized_keys.ts";
import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const ANNA = { user: "anna", home: "/home/anna" };

Deno.test("sshd's tokens in the path of AuthorizedKeysFile are replaced; other tokens are refused", () => {
  assertEquals(expandTokens("%h/.ssh/%u%%keys", ANNA), "/home/anna/.ssh/anna%keys");
  assertThrows(() => expandTokens("/keys/%", ANNA), CommandError, "can't be escape character");
  assertThrows(() => expandTokens("/keys/%k", ANNA), CommandError, 'unknown token character "%k"');
});

Deno.test("lines that a user made to take long are read at once", () => {
  const lines = ["ssh-".repeat(500_000), `${" x".repeat(500_000)} ssh-rsa`, `from="a" ssh-rsa AAAA me`];
  const text = lines.join("\n");
  assertEquals([...parseAuthorizedKeys(text, (key) => key)], [
    ["AAAA", { enc: "ssh-rsa", comment: "me", options: ['from="a"'], fingerprint: "AAAA" }],
  ]);
  assertEquals(replaceKey(text, "AAAA", "new\n"), `${lines[0]}\n${lines[1].trim()}\nnew\n`);
  assertEquals(removeKey(lines[2], "AAAA"), "");
});

Deno.test("the key of a line is what follows its last type", () => {
  assertEquals(replaceKey("ssh-rsa AAAA ssh-rsa BBBB", "AAAA", "new\n"), "ssh-rsa AAAA ssh-rsa BBBB\n");
  assertEquals(replaceKey("ssh-rsa AAAA ssh-rsa BBBB", "BBBB", "new\n"), "new\n");
  assertEquals(replaceKey("from=x,sk-ssh-ed25519 AAAA", "AAAA", "new\n"), "new\n");
});
