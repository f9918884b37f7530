import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { EventFeed } from "./page/events.js";
import { ServerError } from "./page/server.js";

/** A server that answers each request for its events by the next of `answers`, then never. */
class FakeServer {
  asked = [];

  constructor(...answers) {
    this.answers = answers;
  }

  async events(since) {
    this.asked.push(since);
    const answer = this.answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? new Promise(() => {});
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

function open(server) {
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  mock.timers.enable({ apis: ["setTimeout"] });
  const feed = new EventFeed(server);
  feed.open();
  return feed;
}

async function pass(seconds) {
  for (let second = 0; second < seconds; second += 1) {
    mock.timers.tick(1000);
    await settle();
  }
}

test("a page that is locked asks for no events until there is another token", async () => {
  const server = new FakeServer(new ServerError(401, "no"), new ServerError(401, "no"));
  const feed = open(server);
  await pass(60);
  assert.equal(server.asked.length, 1);
  document.dispatchEvent(new Event("visibilitychange"));
  await pass(60);
  assert.equal(server.asked.length, 1);
  feed.unlock();
  await pass(60);
  assert.equal(server.asked.length, 2);
  feed.unlock();
  await pass(60);
  assert.equal(server.asked.length, 3);
  mock.timers.reset();
});

test("where the server is away the feed tries again", async () => {
  const server = new FakeServer(new ServerError(0, "away"), new ServerError(0, "away"));
  open(server);
  await pass(10);
  assert.equal(server.asked.length, 3);
  mock.timers.reset();
});
