/** @module */
import {
  BusSubscribers,
  missedNote,
  readSubscriberTopic,
  type SubscriberName,
  type SubscriberNotice,
  subscriberTopic,
} from "#lib/bus/subscribers.ts";
import { assertEquals } from "#tests/support/assert.ts";

const NAME: SubscriberName = { key: "k", pid: 7, prefixes: ["salt/job/", "salt/key"], missed: 0 };

function bus(): { subscribers: BusSubscribers; news: string[] } {
  const news: string[] = [];
  const tell = ({ what, subscriber }: SubscriberNotice) =>
    news.push(`${what} ${subscriber.name.key} ${subscriber.dropped}`);
  return { subscribers: new BusSubscribers(tell), news };
}

Deno.test("a subscriber's topic can be parsed; other topics, and invalid ones of that form, cannot", () => {
  assertEquals(readSubscriberTopic(subscriberTopic(NAME)), NAME);
  // As another release might write it.
  assertEquals(readSubscriberTopic('\u0001subscriber {"key":"k"}'), { key: "k", pid: 0, prefixes: [], missed: 0 });
  for (
    const topic of ["", "salt/job/", "\u0001welcome", "\u0001subscriber ", "\u0001subscriber []", "\u0001subscriber {"]
  ) {
    assertEquals(readSubscriberTopic(topic), undefined);
  }
});

Deno.test("dropped events are counted for a subscriber that does not read, until it has received the first note with their count", () => {
  const { subscribers, news } = bus();
  subscribers.subscriptionChanged(subscriberTopic(NAME), true);
  subscribers.subscriptionChanged("salt/job/", true);
  assertEquals([subscribers.stuckOn("salt/job/1").length, subscribers.readingOn("salt/job/1").length], [0, 1]);
  const [one] = subscribers.readingOn("salt/key");
  subscribers.full(one);
  one.dropped = 3;
  assertEquals([subscribers.stuckOn("salt/job/1").length, subscribers.stuckOn("salt/auth").length], [1, 0]);
  assertEquals(missedNote(one), `${subscriberTopic(NAME)}\n3`);
  one.dropped = 5; // the events counted after the received note were delivered
  subscribers.subscriptionChanged(subscriberTopic({ ...NAME, missed: 3 }), true);
  subscribers.subscriptionChanged(subscriberTopic(NAME), false);
  assertEquals(subscribers.all.map(({ dropped, stuck }) => [dropped, stuck]), [[3, false]]);
  assertEquals(news, ["stuck k 0", "reads again k 3"]);
});

Deno.test("a subscriber that disconnects is removed, which is reported if it was stuck", () => {
  const { subscribers, news } = bus();
  subscribers.subscriptionChanged(subscriberTopic(NAME), true);
  subscribers.subscriptionChanged(subscriberTopic({ ...NAME, key: "other" }), true);
  subscribers.full(subscribers.all[0]);
  for (const key of ["k", "other"]) subscribers.subscriptionChanged(subscriberTopic({ ...NAME, key }), false);
  assertEquals([subscribers.all, news], [[], ["stuck k 0", "left stuck k 0"]]);
});
