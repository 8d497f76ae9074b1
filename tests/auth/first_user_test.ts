/** The first user of external_auth, as the runner makes it, logs in; nobody else is made by it. */

import { assert, assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";
import { hasUsers, makeFirstUser } from "#lib/auth/first_user.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { CommandError } from "#lib/errors.ts";
import { map, toValue } from "#lib/values/value.ts";
import { ApiSite } from "#tests/support/fleet/api_site.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** What the runner shows. */
interface Shown {
  readonly user: string;
  readonly password: string;
  readonly eauth: string;
  readonly written: string;
}

fleetTest("auth.first_user makes a user who logs in after a restart of the master, once", {}, async (fleet) => {
  const { code, out } = await fleet.saltRun("auth.first_user", "name=alice", "--out=json");
  assertEquals(code, 0);
  const { user, password, eauth, written }: Shown = JSON.parse(out);
  assertEquals([user, eauth, written], ["alice", "file", `${fleet.configDir}/master.d/first_user.conf`]);
  const file = `${fleet.masterOpts.pki_dir}/first_user.passwd`;
  assertEquals((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  // Other programs of the master's host read its configuration.
  assertEquals((Deno.statSync(written).mode ?? 0) & 0o777, 0o644);
  for (const path of [file, written]) assert(!Deno.readTextFileSync(path).includes(password));
  assert(!fleet.logs.some((line) => line.includes(password)));

  await fleet.stopMaster();
  await fleet.startMaster();
  assert(fleet.masterOpts.salt_console);
  await using site = await ApiSite.start(fleet);
  const answer = await site.post("/login", { username: user, password, eauth });
  assertEquals(answer.status, 200);
  assertEquals((await site.post("/login", { username: user, password: `${password}x`, eauth })).status, 401);

  const again = await fleet.saltRun("auth.first_user");
  assertEquals(again.code, 1);
  assertMatch(again.out + again.err, /external_auth has a user, or a system of users, already/);
});

Deno.test("a first user has a plain name, and replaces no file", () =>
  withTemporaryDirectory((directory) => {
    const opts = { config_dir: directory, pki_dir: `${directory}/pki`, external_auth: map({}), salt_console: false };
    for (const name of ["", "a b", "*", "admins%", "^filename", "x: y", "../x", "a\nb"]) {
      assertThrows(() => makeFirstUser(name, opts), CommandError, "no name of a user");
    }
    Deno.mkdirSync(opts.pki_dir);
    if (Deno.uid() === 0) Deno.chownSync(opts.pki_dir, 4711, null);
    makeFirstUser("admin", opts);
    // The master reads it, whoever has typed the command.
    const { uid } = Deno.statSync(opts.pki_dir);
    assertEquals(Deno.statSync(`${opts.pki_dir}/first_user.passwd`).uid, uid);
    assertThrows(() => makeFirstUser("other", opts), CommandError, "is there already");
    Deno.writeTextFileSync(`${directory}/master`, `root_dir: ${directory}\n`);
    const { opts: loaded } = loadMasterConfig({ configDir: directory });
    assertEquals([hasUsers(loaded), loaded.salt_console], [true, true]);
    assertEquals(hasUsers({ external_auth: map({ file: toValue({ "^filename": "x" }) }) }), false);
  }));
