import { isTrustedPath } from "#lib/os/trusted_path.ts";
import type { User } from "#lib/os/users.ts";
import { assertEquals } from "#tests/support/assert.ts";

const THEM: User = { name: "nobody_here", passwd: "x", uid: 65_533, gid: 65_533, gecos: "", home: "/", shell: "" };

/** The ids and mode of each directory, or the target of a link, in order of creation. */
const TREE: readonly (readonly [path: string, made: { uid?: number; gid?: number; mode?: number; link?: string }])[] = [
  ["roots", {}],
  ["roots/link_to_roots", { link: "../roots/inner" }],
  ["roots/inner", {}],
  ["theirs", { uid: THEM.uid }],
  ["theirs/roots", {}],
  ["roots/link_to_theirs", { link: "../theirs/roots" }],
  ["theirs/link", { link: "../roots/inner" }],
  ["roots/link_through_theirs", { link: "../theirs/link" }],
  ["open", { mode: 0o777 }],
  ["open/roots", {}],
  ["sticky", { mode: 0o1777 }],
  ["sticky/roots", {}],
  ["sticky/theirs", { uid: THEM.uid }],
  ["their_group", { gid: THEM.gid, mode: 0o775 }],
  ["other_group", { gid: 65_532, mode: 0o775 }],
  ["anothers", { uid: 65_532 }],
  ["roots/a", { link: "b" }],
  ["roots/b", { link: "a" }],
];

const CASES: readonly (readonly [path: string, trusted: boolean])[] = [
  ["roots/file", true],
  ["roots/missing/deep/file", true],
  ["roots/inner/../file", true],
  ["roots/./file", true],
  ["roots//file", true],
  ["roots/link_to_roots/file", true],
  ["theirs", true], // root controls which directory this is
  ["theirs/file", false],
  ["theirs/missing/file", false],
  ["theirs/roots", false],
  ["theirs/roots/file", false],
  ["theirs/../roots/file", false], // the other user may put a link there
  ["roots/link_to_theirs/file", false],
  ["roots/link_through_theirs/file", false],
  ["theirs/link/file", false],
  ["open/file", false],
  ["open/roots/file", false],
  ["sticky/file", true], // root can check its owner
  ["sticky/roots/file", true],
  ["sticky/theirs/file", false],
  ["their_group/file", false],
  ["other_group/file", true],
  ["anothers/file", false],
  ["roots/a", false],
];

Deno.test("root uses a path by name only if only root controls it", {
  ignore: Deno.uid() !== 0,
}, async (t) => {
  const root = Deno.makeTempDirSync({ prefix: "trusted_" });
  Deno.chmodSync(root, 0o755);
  try {
    for (const [path, { uid = 0, gid = 0, mode = 0o755, link }] of TREE) {
      if (link !== undefined) {
        Deno.symlinkSync(link, `${root}/${path}`);
        continue;
      }
      Deno.mkdirSync(`${root}/${path}`);
      Deno.chownSync(`${root}/${path}`, uid, gid);
      Deno.chmodSync(`${root}/${path}`, mode);
    }
    const self: User = { ...THEM, name: "root", uid: 0, gid: 0 };
    Deno.mkdirSync(`${root}/roots_group`);
    Deno.chmodSync(`${root}/roots_group`, 0o775);
    assertEquals(isTrustedPath(`${root}/roots_group/file`, self), true);
    assertEquals(isTrustedPath(`${root}/other_group/file`, self), false);
    for (const [path, trusted] of CASES) {
      await t.step(`${path}: ${trusted}`, () => assertEquals(isTrustedPath(`${root}/${path}`, THEM), trusted));
    }
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
