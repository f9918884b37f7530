import assert from "node:assert/strict";
import { test } from "node:test";

import { fields, WireError, Writer } from "./page/protobuf.js";
import { readStruct, writeStruct } from "./page/struct.js";
import { decodeControl, decodeData, encodeCommand, encodeControl } from "./page/wire.js";

const roundTrip = (value) => readStruct(writeStruct(value).finish());

test("a struct survives the way there and back", () => {
  const value = {
    text: "grüße 🌍",
    whole: 3,
    negative: -0.5,
    yes: true,
    no: false,
    nothing: null,
    list: [1, "two", [], { three: 3 }],
    nested: { a: { b: { c: [] } } },
    empty: {},
    "": "empty key",
  };
  assert.deepEqual(roundTrip(value), value);
});

test("a key called __proto__ is only a key", () => {
  const value = JSON.parse('{"__proto__": {"polluted": true}}');
  const back = roundTrip(value);
  assert.deepEqual(Object.keys(back), ["__proto__"]);
  assert.equal(back.polluted, undefined);
});

test("a value nested without end is refused, not a crash", () => {
  let deep = 0;
  for (let level = 0; level < 500; level += 1) deep = [deep];
  assert.throws(() => writeStruct({ deep }), WireError);
});

test("integers up to 2**53 keep every digit", () => {
  for (const value of [0, 1, 127, 128, 300, 2 ** 31, 2 ** 40 + 1, Number.MAX_SAFE_INTEGER]) {
    const [field] = [...fields(new Writer().uint(4, value).finish())];
    assert.deepEqual(field, { number: 4, value });
  }
});

test("every cut of a message is an error or a shorter message, never another exception", () => {
  const whole = encodeCommand("data_1", "set_speed", { speed: 2, path: [[1, 2]], on: true });
  for (let size = 0; size < whole.length; size += 1) {
    try {
      decodeData(whole.subarray(0, size));
    } catch (error) {
      assert.ok(error instanceof WireError, String(error));
    }
  }
});

test("an acknowledgement is a frame without a payload", () => {
  const frame = new Writer().string(1, "data_7").uint(2, 2).finish();
  assert.equal(frame.length, 10);
  assert.deepEqual(decodeData(frame), { requestId: "data_7", type: "none", body: null });
});

test("unknown fields and unknown payloads are passed over", () => {
  const frame = new Writer()
    .string(1, "a")
    .string(99, "from the future")
    .double(98, 1)
    .message(11, new Writer().uint(1, 1))
    .finish();
  assert.equal(decodeData(frame).type, "none");
});

test("an error without text has an empty one", () => {
  const frame = new Writer().message(40, new Writer().string(1, "too_early")).finish();
  assert.deepEqual(decodeData(frame).body, { code: "too_early", message: "" });
  assert.deepEqual(decodeControl(frame).body, { code: "too_early", message: "" });
});

test("an empty publish response counts by its presence", () => {
  const frame = new Writer().string(1, "ctrl_1").message(14, new Writer()).finish();
  assert.equal(decodeControl(frame).type, "publish_track");
});

test("an unknown control message is refused before it is sent", () => {
  assert.throws(() => encodeControl("", "reboot"), WireError);
});
