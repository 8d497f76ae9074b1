/**
 * LDAP: the real client in its own process, against the test's own server.
 * @module
 */

import { askAuthProcess } from "#lib/auth/auth_process.ts";
import type { AuthReply } from "#lib/auth/auth_messages.ts";
import { escapedForFilter, firstValue, ldapSettings, renderedDn } from "#lib/auth/ldap_settings.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { type DirectoryEntry, LdapDirectory } from "#tests/support/ldap_directory.ts";

const PEOPLE = "ou=People,dc=example,dc=com", GROUPS = "ou=Groups,dc=example,dc=com";
const ENTRIES: readonly DirectoryEntry[] = [
  { dn: "cn=search,dc=example,dc=com", password: "searching", attributes: { cn: ["search"] } },
  { dn: `uid=fred,${PEOPLE}`, password: "correct horse", attributes: { uid: ["fred"], objectClass: ["person"] } },
  { dn: `uid=twin1,${PEOPLE}`, password: "x", attributes: { uid: ["twin"], objectClass: ["person"] } },
  { dn: `uid=twin2,${PEOPLE}`, password: "x", attributes: { uid: ["twin"], objectClass: ["person"] } },
  { dn: `cn=ops,${GROUPS}`, attributes: { cn: ["ops"], objectClass: ["posixGroup"], memberUid: ["fred", "anna"] } },
  { dn: `cn=dba,${GROUPS}`, attributes: { cn: ["dba"], objectClass: ["posixGroup"], memberUid: ["anna"] } },
];
const BY_SEARCH = {
  "auth.ldap.binddn": "cn=search,dc=example,dc=com",
  "auth.ldap.bindpw": "searching",
  "auth.ldap.basedn": "dc=example,dc=com",
  "auth.ldap.filter": "(uid={{ username }})",
};

async function withDirectory(
  act: (
    ask: (options: Record<string, Value>, username: string, password: string) => Promise<AuthReply>,
    directory: LdapDirectory,
  ) => Promise<void>,
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "ldap_" });
  const directory = new LdapDirectory(ENTRIES);
  try {
    await act((options, username, password) => {
      const overrides = {
        root_dir: root,
        "auth.ldap.server": "127.0.0.1",
        "auth.ldap.port": directory.port,
        ...options,
      };
      const settings = ldapSettings(loadMasterConfig({ configDir: root, overrides }).opts);
      return askAuthProcess({ kind: "ldap", settings, credentials: { username, password } });
    }, directory);
  } finally {
    await directory.close();
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("ldap: the bind account finds the user's DN; the user binds with the password; the account reads the groups", async () => {
  await withDirectory(async (ask, { operations }) => {
    assertEquals(await ask(BY_SEARCH, "fred", "correct horse"), { known: true, groups: ["ops"] });
    assertEquals(operations, [
      "bind cn=search,dc=example,dc=com",
      "search dc=example,dc=com (uid=fred)",
      `bind uid=fred,${PEOPLE}`,
      "bind cn=search,dc=example,dc=com",
      `search ${GROUPS} (&(memberUid=fred)(objectClass=posixGroup))`,
    ]);
    const [wrong, empty, eve, twin, star] = await Promise.all([
      ask(BY_SEARCH, "fred", "wrong"),
      ask(BY_SEARCH, "fred", ""),
      ask(BY_SEARCH, "eve", "x"),
      ask(BY_SEARCH, "twin", "x"),
      ask(BY_SEARCH, "*", "correct horse"),
    ]);
    assertEquals(
      [wrong, empty, eve, twin, star].map(({ known, groups }) => [known, groups.length]),
      Array(5).fill([false, 0]),
    );
    // A name cannot change the filter.
    assertEquals(operations.includes("search dc=example,dc=com (uid=\\2a)"), true);
    const account = await ask({ ...BY_SEARCH, "auth.ldap.bindpw": "wrong" }, "fred", "correct horse");
    assertEquals(account.known, false);
    assertStringIncludes(account.problem ?? "", "refuses cn=search");
  });
});

Deno.test("ldap: without a name, a password or a DN nobody is bound, though a directory would take it", async () => {
  await withDirectory(async (ask, { operations }) => {
    const own = { "auth.ldap.binddn": `uid={{ username }},${PEOPLE}`, "auth.ldap.basedn": "dc=example,dc=com" };
    for (const options of [BY_SEARCH, own]) {
      for (const [username, password] of [["fred", ""], ["", "correct horse"], ["", ""]]) {
        const { known, problem } = await ask(options, username, password);
        assertEquals([known, problem], [false, "an empty name or password"]);
      }
    }
    const { known, problem } = await ask({ "auth.ldap.basedn": "dc=example,dc=com" }, "fred", "any");
    assertEquals([known, problem], [false, "no entry, or several, for the user"]);
    assertEquals(operations, []);
  });
});

Deno.test("ldap: without an account, the DN is built from the user's name, and the bind with it finds the groups", async () => {
  const own = { "auth.ldap.binddn": `uid={{ username }},${PEOPLE}`, "auth.ldap.basedn": "dc=example,dc=com" };
  await withDirectory(async (ask) => {
    const [fred, eve, dead] = await Promise.all([
      ask(own, "fred", "correct horse"),
      ask(own, "fred,ou=People", "correct horse"),
      ask({ ...own, "auth.ldap.port": 1 }, "fred", "correct horse"),
    ]);
    assertEquals(fred, { known: true, groups: ["ops"] });
    assertEquals([eve.known, dead.known], [false, false]);
    assertStringIncludes(dead.problem ?? "", "ECONNREFUSED");
  });
});

Deno.test("ldap: names in filters and DNs are escaped", () => {
  assertEquals(escapedForFilter("a*(b)\\\0"), "a\\2a\\28b\\29\\5c\\00");
  assertEquals(renderedDn("uid={{ username }},dc=x", 'a,b="c"'), 'uid=a\\,b\\=\\"c\\",dc=x');
  assertEquals(renderedDn("{{username}}@example.com", "a,b"), "a,b@example.com");
  assertEquals([firstValue("cn=ops,ou=Groups"), firstValue("uid=a\\,b,dc=x"), firstValue("fred")], [
    "ops",
    "a,b",
    "fred",
  ]);
});
