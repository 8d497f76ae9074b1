/**
 * Engines in Python, of a real master and a real minion.
 * @module
 */

import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ENGINE = `
import salt.utils.event
import own_engine_part

def __virtual__():
    return "answers"

def _bus():
    if __opts__["__role"] == "master":
        return salt.utils.event.get_master_event(__opts__, __opts__["sock_dir"], listen=True)
    return salt.utils.event.get_event("minion", opts=__opts__, sock_dir=__opts__["sock_dir"], listen=True)

def _too_many():
    held = []
    try:
        for _ in range(20):
            held.append(_bus())
    except Exception as error:
        return str(error)
    finally:
        for bus in held:
            bus.destroy()

def _closed():
    bus = _bus()
    bus._job().ask("event_close", stream=bus._stream)
    try:
        return bus.get_event(no_block=True)
    except Exception as error:
        return str(error)

def start(word, times=1):
    refused = [_too_many(), _closed()]
    with _bus() as bus:
        __salt__["event.send"]("engine/ready", {"role": __opts__["__role"]})
        bus.get_event(wait=0, tag="ask/first")
        answer = bus.fire_event if __opts__["__role"] == "master" else bus.fire_master
        assert bus.get_event(tag="never", no_block=True) is None
        for event in bus.iter_events(tag="ask/", full=True):
            if __opts__["__role"] == "minion":
                bus.fire_event({"n": 1}, "engine/here")
            answer({
                "asked": event["tag"], "of": event["data"]["n"], "word": word * times, "id": __opts__["id"],
                "echo": __salt__["test.echo"]("x"), "kernel": __grains__["kernel"], "has": "no.such" in __salt__,
                "own": __salt__["own.fun"](), "part": own_engine_part.part(), "name": __name__,
                "refused": refused, "runners": "jobs.active" in list(globals().get("__runners__", [])),
            }, "engine/answer")
`;
const BROKEN = "def start(): raise ValueError('went wrong')\n";

Deno.test("an engine in Python reads and fires events, and calls functions; one that fails is started again", () =>
  withTemporaryDirectory(async (root) => {
    const write = (path: string, text: string) => {
      Deno.mkdirSync(`${root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
      Deno.writeTextFileSync(`${root}/${path}`, text);
    };
    write("engines/file.py", ENGINE);
    write("engines/broken.py", BROKEN);
    write("engines/own_engine_part.py", "def part(): return 'part'\n");
    write("modules/own.py", "def fun(): return __grains__['os_family'] != ''\n");
    const options = (words: object) => ({ module_dirs: [root], engines: [{ answers: words }, "broken"] });
    await using fleet = await startFleet({
      minions: ["web1"],
      master: options({ word: "m" }),
      minion: { ...options({ word: "w", times: 2 }) },
    });
    using events = await fleet.listen("engine/");
    const answers = new Map<string, unknown>(), tags: string[] = [];
    await eventually(async () => {
      await fleet.fire("ask/first", map({ n: 0 }));
      await fleet.fire("ask/x", map({ n: 1 }));
      await fleet.salt("web1", "event.fire", "{n: 0}", "ask/first");
      await fleet.salt("web1", "event.fire", "{n: 1}", "ask/x");
      for (let event; (event = await events.next(500)) !== undefined;) {
        // The event of a minion is in the data.
        const inner = event.data.get("data");
        const shown = isMap(inner) ? inner : event.data;
        tags.push(event.tag);
        if (event.tag !== "engine/answer" || shown.get("asked") !== "ask/x") continue;
        answers.set(String(shown.get("word")), Object.fromEntries([...shown].map(([key, value]) => [key, value])));
      }
      return answers.size === 2;
    }, { what: "the answers of both engines" });
    const of = (word: string) => {
      const answer = answers.get(word);
      assert(typeof answer === "object" && answer !== null);
      const { asked, of, echo, kernel, has, own, part, name, refused, runners } = answer as Record<string, unknown>;
      return { asked, of, echo, kernel, has, own, part, name, refused, runners };
    };
    const expected = {
      asked: "ask/x",
      of: 1,
      echo: "x",
      kernel: "Linux",
      has: false,
      own: true,
      part: "part",
      name: "salt.loaded.ext.engines.file",
      refused: ["more than 16 streams of events", "there is no such stream of events"],
    };
    assertEquals(of("m"), { ...expected, runners: true });
    // A minion has none.
    assertEquals(of("ww"), { ...expected, runners: false });
    assert(!tags.includes("engine/here"), "what an engine fires on its minion's own bus stays there");
    await eventually(() => fleet.logs.some((line) => line.includes("engine broken") && line.includes("went wrong")), {
      what: "the failure",
    });
  }));
