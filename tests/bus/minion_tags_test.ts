import * as event from "../../lib/bus/event.ts";
import { minionMayFire } from "../../lib/bus/minion_tags.ts";
import { assertEquals } from "../support/assert.ts";

const JID = "20240102030405678901";

/** Tags that the minion web1 may fire: those of Python Salt's minions, ours, and whatever `event.send` is given. */
const OWN = [
  event.LEGACY_START_EVENT,
  "minion_ping",
  event.minionStart("web1"),
  "salt/minion/web1/anything/else",
  event.jobStart(JID, "web1"),
  event.jobStart(`${JID}_4711`, "web1"),
  event.jobAck(JID, "web1"),
  event.jobProgress(JID, "web1", 3),
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
  event.jobNew(JID),
  event.jobPublish(JID),
  event.jobReturn(JID, "web1"),
  event.jobReturn(JID, "db1"),
  event.jobReturn(JID, "a/b"),
  event.jobError(JID),
  event.jobStart(JID, "db1"),
  event.jobStart(JID, "db1/web1"),
  event.jobStart(JID, ""),
  event.jobStart("x", "web1"),
  `${event.jobStart(JID, "web1")}/db1`,
  event.jobAck(JID, "db1"),
  event.jobProgress(JID, "db1", 3),
  `salt/job/${JID}/prog/web1`,
  `salt/job/${JID}/out/db1`,
  `salt/job/${JID}/sub/web1/error/test.ping`,
  `salt/job/${JID}`,
  "salt/job",
  "salt/job/",
  `salt/state_result/${JID}/db1/nginx`,
  event.minionStart("db1"),
  "salt/minion/",
  "salt/beacon/db1/load/",
  "salt/syndic/db1/start",
  "syndic/db1/salt/job/x/new",
  event.minionRefresh("web1"),
  "resource/refresh/web1",
  event.AUTH_EVENT,
  "salt/auth/creds",
  event.KEY_EVENT,
  event.ROTATE_EVENT,
  event.runEvent(JID, "new"),
  event.wheelEvent(JID, "ret"),
  event.PRESENT_EVENT,
  event.PRESENCE_CHANGE_EVENT,
  "salt/cloud/x/created",
  "salt/cluster/peer/join",
  "salt/fileserver/roots/update",
  "salt/fileserver",
  "salt/stats/MWorker-1",
  "salt/batch/x/done",
];

for (const [tags, allowed] of [[OWN, true], [FORBIDDEN, false]] as const) {
  for (const tag of tags) {
    Deno.test(`minion web1 may ${allowed ? "" : "not "}fire ${JSON.stringify(tag)}`, () => {
      assertEquals(minionMayFire(tag, "web1"), allowed);
    });
  }
}
