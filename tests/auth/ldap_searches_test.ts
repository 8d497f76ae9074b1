/**
 * The LDAP server gets the searches that Salt makes, with Active Directory, FreeIPA and other servers, and the groups
 * are the same. The cases are made by tests/corpus/make_ldap_searches.py.
 * @module
 */

import { authenticateByLdap } from "#lib/auth/ldap_directory.ts";
import { ldapSettings } from "#lib/auth/ldap_settings.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type DirectoryEntry, LdapDirectory } from "#tests/support/ldap_directory.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Case {
  readonly username: string;
  readonly options: Record<string, Value>;
  /** The base, scope and filter of each search, in order. */
  readonly searches: readonly (readonly [base: string, scope: number, filter: string])[];
  readonly groups: readonly string[];
}

const { entries, cases }: { entries: DirectoryEntry[]; cases: Case[] } = JSON.parse(
  Deno.readTextFileSync(new URL("../corpus/ldap_searches.json", import.meta.url)),
);

Deno.test(`ldap: the searches and groups of ${cases.length} settings are Salt's`, () =>
  withTemporaryDirectory(async (root) => {
    for (const { username, options, searches, groups } of cases) {
      const directory = new LdapDirectory(entries);
      try {
        const overrides = { root_dir: root, "auth.ldap.uri": `ldap://127.0.0.1:${directory.port}`, ...options };
        const settings = ldapSettings(loadMasterConfig({ configDir: root, overrides }).opts);
        const answer = await authenticateByLdap(settings, { username, password: "horse" });
        assertEquals(answer, { known: true, groups: [...groups] }, JSON.stringify(options));
        assertEquals(
          directory.operations.filter((line) => !line.startsWith("bind ")),
          searches.map(([base, , filter]) => `search ${base} ${filter}`),
          JSON.stringify(options),
        );
        // A directory with very many entries must not fill the memory.
        assertEquals(directory.sizeLimits, searches.map(() => 1_000));
      } finally {
        await directory.close();
      }
    }
  }));

Deno.test("ldap: a directory that does not answer is given up after ten seconds", () =>
  withTemporaryDirectory(async (root) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepted = Array.fromAsync(listener).catch(() => []);
    const overrides = {
      root_dir: root,
      "auth.ldap.uri": `ldap://127.0.0.1:${listener.addr.port}`,
      "auth.ldap.basedn": "dc=example",
      "auth.ldap.binddn": "uid={{ username }},dc=example",
    };
    const settings = ldapSettings(loadMasterConfig({ configDir: root, overrides }).opts);
    const { setTimeout } = globalThis;
    const asked = new Set<unknown>();
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      asked.add(ms);
      return setTimeout(run, Math.min(ms, 50));
    }) as typeof setTimeout;
    try {
      const ask = () => authenticateByLdap(settings, { username: "fred", password: "horse" });
      await assertRejects(ask, Error, "timed out");
    } finally {
      globalThis.setTimeout = setTimeout;
    }
    assertEquals([...asked], [10_000]);
    listener.close();
    await accepted;
  }));
