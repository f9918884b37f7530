import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { CallError, Calls, REPLY_TIMEOUT_MS } from "./page/calls.js";
import { BackOff, NewestWins, pause } from "./page/rate.js";

test("a moving slider is sent at a bounded rate, the newest wins and the last is never lost", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [];
  const limited = new NewestWins((value) => sent.push(value), 100);
  for (let value = 0; value < 10; value += 1) limited.push(value);
  assert.deepEqual(sent, [0]);
  mock.timers.tick(100);
  assert.deepEqual(sent, [0, 9]);
  mock.timers.tick(1000);
  limited.push(10);
  assert.deepEqual(sent, [0, 9, 10]);
  mock.timers.reset();
});

test("pauses double up to a ceiling and begin anew after a success", () => {
  const backOff = new BackOff(300, 1000);
  assert.deepEqual([backOff.next(), backOff.next(), backOff.next(), backOff.next()], [300, 600, 1000, 1000]);
  backOff.reset();
  assert.equal(backOff.next(), 300);
});

test("a pause ends at once when it is called off", async () => {
  const off = new AbortController();
  const waiting = pause(60_000, off.signal);
  off.abort();
  await waiting;
  await pause(60_000, off.signal);
});

test("answers find their request, in any order", async () => {
  const calls = new Calls("data");
  const ids = [];
  const first = calls.request((id) => ids.push(id));
  const second = calls.request((id) => ids.push(id));
  assert.equal(calls.settle({ requestId: ids[1], type: "none" }), true);
  assert.equal(calls.settle({ requestId: ids[0], type: "message", body: { name: "m" } }), true);
  assert.equal((await first).body.name, "m");
  assert.equal((await second).type, "none");
  assert.equal(calls.settle({ requestId: ids[0], type: "none" }), false);
});

test("a refusal carries the server's code and words", async () => {
  const calls = new Calls("data");
  const asked = calls.request((id) => queueMicrotask(() => calls.settle({ requestId: id, type: "error", body: { code: "too_early", message: "wait" } })));
  await assert.rejects(asked, (error) => error instanceof CallError && error.code === "too_early" && error.detail === "wait");
});

test("a request without an answer ends after ten seconds", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const asked = new Calls("data").request(() => {});
  mock.timers.tick(REPLY_TIMEOUT_MS);
  await assert.rejects(asked, { code: "no_reply" });
  mock.timers.reset();
});

test("when the channel is gone every request hears of it", async () => {
  const calls = new Calls("data");
  const asked = [calls.request(() => {}), calls.request(() => {})];
  calls.failAll("session_ended");
  for (const one of asked) await assert.rejects(one, { code: "session_ended" });
});

test("what cannot be sent is refused at once", async () => {
  const asked = new Calls("data").request(() => {
    throw new CallError("not_connected");
  });
  await assert.rejects(asked, { code: "not_connected" });
});
