import { parseJson } from "../lib/json.ts";
import { PresenceBook, presenceTopic } from "../lib/presence.ts";
import { assertEquals } from "./assert.ts";
import { eventually, fleetTest } from "./fleet.ts";

const SESSIONS = new Map([["web1", "key of web1"], ["web2", "key of web2"]]);
const frame = (first: number, topic: string) => new Uint8Array([first, ...new TextEncoder().encode(topic)]);
const topicOf = (id: string, key = SESSIONS.get(id) ?? "") => presenceTopic(id, key);
const book = () => new PresenceBook((id) => SESSIONS.get(id));

Deno.test("a minion is present from its subscription to the end of it", () => {
  const present = book();
  assertEquals(present.hear(frame(1, topicOf("web1")), 5), { id: "web1", present: true });
  assertEquals([...present.since], [["web1", 5]]);
  assertEquals(present.hear(frame(0, topicOf("web1"))), { id: "web1", present: false });
  assertEquals(present.since.size, 0);
});

for (
  const [what, topic] of [
    ["without a proof", "salt/present/web1/"],
    ["with the proof of another minion", topicOf("web1", "key of web2")],
    ["with another's id under its own key", presenceTopic("web2", "key of web1")],
    ["that has never signed in", topicOf("db1", "")],
    ["with a path for an id", presenceTopic("../web1", "key of web1")],
    ["to everything", ""],
    ["to a topic of Salt's", "broadcast"],
  ]
) {
  Deno.test(`a subscriber ${what} is nobody`, () => {
    const present = book();
    assertEquals([present.hear(frame(1, topic)), present.since.size], [undefined, 0]);
  });
}

Deno.test("who goes and was never there changes nothing", () => {
  const present = book();
  present.hear(frame(1, topicOf("web1")));
  assertEquals(present.hear(frame(0, "salt/present/web1/made-up")), undefined);
  assertEquals([...present.since.keys()], ["web1"]);
});

Deno.test("a minion that changes its session stays present until the last of its topics ends", () => {
  const sessions = new Map([["web1", "old"]]);
  const present = new PresenceBook((id) => sessions.get(id));
  present.hear(frame(1, presenceTopic("web1", "old")));
  sessions.set("web1", "new");
  assertEquals(present.hear(frame(1, presenceTopic("web1", "new"))), undefined);
  assertEquals(present.hear(frame(0, presenceTopic("web1", "old"))), undefined);
  assertEquals(present.hear(frame(0, presenceTopic("web1", "new"))), { id: "web1", present: false });
});

fleetTest("manage.present and manage.not_present know who comes and goes, and whose key was deleted", {
  minions: ["web1", "web2"],
}, async (fleet) => {
  const list = async (name: string) => parseJson((await fleet.saltRun("--out=json", `manage.${name}`)).out);
  const until = (present: string[], not: string[]) =>
    eventually(async () => {
      assertEquals([await list("present"), await list("not_present")], [present, not]);
      return true;
    }, { what: `the presence of ${present}` });
  await until(["web1", "web2"], []);
  await fleet.stopMinion("web2");
  await until(["web1"], ["web2"]);
  await fleet.startMinion("web2");
  await until(["web1", "web2"], []);
  fleet.keys.remove("web1");
  await until(["web2"], []);
  await fleet.stopMaster();
  const { code, err } = await fleet.saltRun("manage.present");
  assertEquals([code, err.includes("Unable to connect")], [69, true]);
});
