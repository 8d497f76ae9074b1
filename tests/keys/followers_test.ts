/** The minions that follow the next pair of their master: noted once, for that pair, and for the master alone. */

import { followersOf, forgetFollowers, noteFollower } from "#lib/keys/followers.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a follower is noted for the announced pair, in a file that only its owner reads", () =>
  withTemporaryDirectory(async (cachedir) => {
    const [next, other] = [(await testKey("one")).publicKey.pem, (await testKey("two")).publicKey.pem];
    noteFollower("web1", undefined, cachedir);
    assertEquals([...Deno.readDirSync(cachedir)], []);
    noteFollower("web1", next, cachedir);
    const [{ name: pair }] = [...Deno.readDirSync(`${cachedir}/next_master`)];
    const path = `${cachedir}/next_master/${pair}/web1`, written = Deno.statSync(path);
    assertEquals((written.mode ?? 0) & 0o777, 0o600);
    noteFollower("web1", next, cachedir);
    assertEquals(Deno.statSync(path).ino, written.ino, "it is written once");
    // What is no id came from nobody.
    Deno.writeTextFileSync(`${cachedir}/next_master/${pair}/.web2.tmp~`, "");
    assertEquals([[...followersOf(cachedir, next)], [...followersOf(cachedir, other)]], [["web1"], []]);
    forgetFollowers(cachedir, next);
    assertEquals([...followersOf(cachedir, next)], []);
  }));
