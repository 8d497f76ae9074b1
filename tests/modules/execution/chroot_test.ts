import { withReplaced } from "#tests/support/replaced.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { explainUnavailable } from "#lib/plugins/unavailable.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("chroot.create makes the directories of an environment, which chroot.exist sees", () =>
  withTemporaryDirectory(async (dir) => {
    const { call } = testContext();
    const root = `${dir}/a/b`;
    assertEquals(await call("chroot.exist", [root]), false);
    assertEquals(await call("chroot.create", [root]), true);
    assertEquals(["dev", "proc", "sys"].map((name) => (Deno.statSync(`${root}/${name}`).mode ?? 0) & 0o777), [
      0o755,
      0o555,
      0o555,
    ]);
    assertEquals([await call("chroot.exist", [root]), await call("chroot.create", [root])], [true, true]);
    Deno.mkdirSync(`${dir}/part/proc`, { recursive: true });
    assertEquals([await call("chroot.create", [`${dir}/part`]), await call("chroot.in_chroot", [])], [false, false]);
  }));

Deno.test("a function of tls, which is not built, names x509", async () => {
  const nothing = { all: () => Promise.resolve([]), problems: () => new Map(), refusals: () => new Map() };
  const { error } = await explainUnavailable("tls.create_ca", nothing, "execution");
  assertStringIncludes(error.message, "'tls.create_ca' is not available: it is a function of Salt that is not built. ");
  assertStringIncludes(error.message, "The module x509 does this work.");
});

Deno.test("chroot.in_chroot compares the mounts, and is False where they cannot be read", async () => {
  const own = () => testContext().call("chroot.in_chroot");
  const real = Deno.readTextFileSync;
  const mounts = (first: () => string) => (path: string | URL) =>
    path === "/proc/1/mountinfo" ? first() : path === "/proc/self/mountinfo" ? "own" : real(path);
  const denied = () => {
    throw new Deno.errors.PermissionDenied("Permission denied (os error 13)");
  };
  for (const [first, answer] of [[() => "own", false], [() => "other", true], [denied, false]] as const) {
    await withReplaced(Deno, { name: "readTextFileSync", by: mounts(first) }, async () => {
      assertEquals(await own(), answer);
    });
  }
});
