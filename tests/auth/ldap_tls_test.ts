/**
 * LDAP over TLS, from the start and by StartTLS: nothing is sent to a server with an invalid certificate.
 * @module
 */

import { AUTH_PROCESS, type AuthReply } from "#lib/auth/auth_messages.ts";
import { ldapSettings } from "#lib/auth/ldap_settings.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { masterProcess } from "#lib/runtime/self_command.ts";
import type { Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { type DirectoryEntry, LdapDirectory } from "#tests/support/ldap_directory.ts";
import { StartTls } from "#tests/support/start_tls.ts";

const FRED = "uid=fred,dc=example,dc=com";
const ENTRIES: readonly DirectoryEntry[] = [
  { dn: FRED, password: "correct horse", attributes: { uid: ["fred"] } },
  { dn: "cn=ops,dc=example,dc=com", attributes: { cn: ["ops"], memberUid: ["fred"], objectClass: ["posixGroup"] } },
];
const OPTIONS = {
  "auth.ldap.binddn": "uid={{ username }},dc=example,dc=com",
  "auth.ldap.basedn": "dc=example,dc=com",
  "auth.ldap.groupou": "",
};
const SEARCH = "search dc=example,dc=com (&(memberUid=fred)(objectClass=posixGroup))";

/** The answer of the auth process for fred. `authority` is the value of DENO_CERT, which only that process may see. */
async function ask(root: string, options: Record<string, Value>, authority?: string): Promise<AuthReply | string> {
  const { opts } = loadMasterConfig({ configDir: root, overrides: { root_dir: root, ...OPTIONS, ...options } });
  const [command, ...args] = masterProcess(AUTH_PROCESS);
  const env: Record<string, string> = authority === undefined ? {} : { DENO_CERT: authority };
  const child = new Deno.Command(command, { args, env, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const credentials = { username: "fred", password: "correct horse" };
  const question = JSON.stringify({ kind: "ldap", settings: ldapSettings(opts), credentials });
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(question));
  await writer.close();
  const { stdout } = await child.output();
  return JSON.parse(new TextDecoder().decode(stdout).split("\n")[0]);
}

Deno.test("ldap: TLS from the start and by StartTLS, with a valid, an invalid and an unchecked certificate", async () => {
  const root = Deno.makeTempDirSync({ prefix: "ldap_tls_" });
  const { cert, key, authority } = makeCertificate(root);
  const directory = new LdapDirectory(ENTRIES, { cert, key });
  const front = new StartTls(directory.port);
  try {
    const known = { known: true, groups: ["ops"] };
    const ways: readonly Record<string, Value>[] = [
      { "auth.ldap.tls": true, "auth.ldap.port": directory.port },
      { "auth.ldap.starttls": true, "auth.ldap.port": front.port },
    ];
    for (const way of ways) {
      const takeOperations = () => directory.operations.splice(0).filter((line) => !line.startsWith("failed: "));
      assertEquals(await ask(root, way, authority), known);
      assertEquals(takeOperations(), [`bind ${FRED}`, SEARCH]);
      assertEquals(await ask(root, { ...way, "auth.ldap.no_verify": true }), known);
      assertEquals(takeOperations(), [`bind ${FRED}`, SEARCH]);
      const [unknown, otherName] = await Promise.all([
        ask(root, way),
        ask(root, { ...way, "auth.ldap.server": "127.0.0.1" }, authority),
      ]);
      for (const refused of [unknown, otherName]) {
        assert(typeof refused === "object" && !refused.known, JSON.stringify([way, unknown, otherName]));
        assertMatch(refused.problem ?? "", /certificate|altname/i);
      }
      assertEquals(takeOperations(), [], "a name or a password was told to a directory that nobody knows");
    }
    // Only the StartTLS request was sent before TLS.
    assertEquals(new Set(front.operationTags), new Set([0x77]));
  } finally {
    await Promise.all([front.close(), directory.close()]);
    Deno.removeSync(root, { recursive: true });
  }
});
