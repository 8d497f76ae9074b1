/** gpg's status lines, read as python-gnupg reads them: tests/corpus/gpg_status.json, made by make_gpg_status.py. */

import type { GpgStatusLine } from "#lib/host/gnupg/gpg.ts";
import { deletionProblem, readImport } from "#lib/host/gnupg/results.ts";
import { readCrypted, verification } from "#lib/host/gnupg/verification.ts";
import { assertEquals } from "#tests/support/assert.ts";

interface Case {
  readonly kind: keyof typeof READERS;
  readonly lines: readonly string[];
  readonly read: unknown;
}

const READERS = {
  verification: (lines: readonly GpgStatusLine[]): unknown => {
    const { username, keyId, trustLevel, status, signatures } = verification(lines);
    return { username, keyId, trustLevel, status, signatures };
  },
  crypted: readCrypted,
  imported: readImport,
  deletion: (lines: readonly GpgStatusLine[]) => deletionProblem(lines) ?? null,
};

const cases: readonly Case[] = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/gpg_status.json", import.meta.url)),
);

for (const [kind, its] of Map.groupBy(cases, ({ kind }) => kind)) {
  Deno.test(`status lines are read as python-gnupg reads them: ${kind}`, () => {
    for (const { lines, read } of its) {
      const parsed = lines.map((line): GpgStatusLine => {
        const [, key = "", value = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
        return { key, value };
      });
      assertEquals<unknown>(READERS[kind](parsed), read, JSON.stringify(lines));
    }
  });
}
