import {
  AUTH_EVENT,
  functionEvent,
  jobAck,
  jobNew,
  jobPublish,
  jobReturn,
  jobStart,
  KEY_EVENT,
  LEGACY_START_EVENT,
  minionRefresh,
  minionStart,
  PRESENCE_CHANGE_EVENT,
  ROTATE_EVENT,
} from "#lib/protocol/tags.ts";
import { minionMayFire } from "#lib/bus/minion_tags.ts";
import { assertEquals } from "#tests/support/assert.ts";

const JID = "20240102030405678901";

/** Tags that the minion web1 may fire: the tags of Python Salt's minions, of our minions, and of `event.send`. */
const OWN = [
  LEGACY_START_EVENT,
  "minion_ping",
  minionStart("web1"),
  "salt/minion/web1/anything/else",
  jobStart(JID, "web1"),
  jobStart(`${JID}_4711`, "web1"),
  jobAck(JID, "web1"),
  `salt/job/${JID}/prog/web1/3`,
  `salt/job/${JID}/out/web1`,
  `salt/state_result/${JID}/web1/nginx`,
  `salt/state_result/${JID}/web1//etc/hosts`,
  "salt/beacon/web1/load/",
  "salt/beacon/web1/inotify//etc/passwd",
  "salt/syndic/web1/start",
  "syndic/web1/salt/job/x/new",
  "my/own/new",
  "myco/app/deployed",
  "salt/custom",
  "salt/keyring",
  "keys",
  "web1",
  "",
  "/salt/minion/minion_schedule_add_complete",
];

const FORBIDDEN = [
  JID,
  `${JID}/prog`,
  `${JID}_12`,
  jobNew(JID),
  jobPublish(JID),
  jobReturn(JID, "web1"),
  jobReturn(JID, "db1"),
  jobReturn(JID, "a/b"),
  `salt/job/${JID}/error`,
  jobStart(JID, "db1"),
  jobStart(JID, "db1/web1"),
  jobStart(JID, ""),
  jobStart("x", "web1"),
  `${jobStart(JID, "web1")}/db1`,
  jobAck(JID, "db1"),
  `salt/job/${JID}/prog/db1/3`,
  `salt/job/${JID}/prog/web1`,
  `salt/job/${JID}/out/db1`,
  `salt/job/${JID}/sub/web1/error/test.ping`,
  `salt/job/${JID}`,
  "salt/job",
  "salt/job/",
  `salt/state_result/${JID}/db1/nginx`,
  minionStart("db1"),
  "salt/minion/",
  "salt/beacon/db1/load/",
  "salt/syndic/db1/start",
  "syndic/db1/salt/job/x/new",
  minionRefresh("web1"),
  "resource/refresh/web1",
  AUTH_EVENT,
  "salt/auth/creds",
  KEY_EVENT,
  ROTATE_EVENT,
  functionEvent("runner", JID, "new"),
  functionEvent("wheel", JID, "ret"),
  "salt/presence/present",
  PRESENCE_CHANGE_EVENT,
  "salt/cloud/x/created",
  "salt/cluster/peer/join",
  "salt/fileserver/roots/update",
  "salt/fileserver",
  "salt/stats/MWorker-1",
  "salt/batch/x/done",
];

Deno.test("no minion may fire a tag that could end early, or that is longer than the longest", () => {
  // A newline ends the tag of an event in Salt's form: the rest would be data that the minion has chosen.
  for (const tag of ["my/tag\n", "salt/auth\n\n", "\u0001welcome", "my/tag\u0000", "my/\u007ftag", "my/\u0085tag"]) {
    assertEquals(minionMayFire(tag, "web1"), false, JSON.stringify(tag));
  }
  assertEquals([8_192, 8_193].map((length) => minionMayFire("x".repeat(length), "web1")), [true, false]);
});

for (const [tags, allowed] of [[OWN, true], [FORBIDDEN, false]] as const) {
  for (const tag of tags) {
    Deno.test(`minion web1 may ${allowed ? "" : "not "}fire ${JSON.stringify(tag)}`, () => {
      assertEquals(minionMayFire(tag, "web1"), allowed);
    });
  }
}
