import assert from "node:assert/strict";
import { test } from "node:test";

import { assignKeys } from "./page/shortcuts.js";

const button = (name) => ({ name, label: name, kind: "button", fields: [] });
const state = (name, field) => ({ name: `set_${name}`, label: name, kind: "state", fields: [{ name, ...field }] });
const keysOf = (commands) => Object.fromEntries(assignKeys(commands).map((binding) => [binding.key, binding]));

test("commands named after directions get arrows and letters", () => {
  const keys = keysOf(["turn_left", "turn_right", "move_forward", "back"].map(button));
  assert.equal(keys.ArrowLeft.command.name, "turn_left");
  assert.equal(keys.d.command.name, "turn_right");
  assert.equal(keys.w.command.name, "move_forward");
  assert.equal(keys.ArrowDown.command.name, "back");
  assert.equal(keys.ArrowLeft.repeats, true);
});

test("two commands of one direction share its keys", () => {
  const keys = keysOf(["look_left", "walk_left"].map(button));
  assert.equal(keys.ArrowLeft.command.name, "look_left");
  assert.equal(keys.a.command.name, "walk_left");
});

test("a choice of directions is steered; with a neutral one only while the key is down", () => {
  const walk = keysOf([state("move", { kind: "choice", choices: ["none", "left", "right", "forward"] })]);
  assert.equal(walk.ArrowRight.value, "right");
  assert.equal(walk.ArrowRight.release, "none");
  assert.equal(walk.ArrowDown, undefined);
  const turn = keysOf([state("heading", { kind: "choice", choices: ["left", "right"] })]);
  assert.equal(turn.a.release, undefined);
});

test("one direction alone is no steering", () => {
  assert.equal(keysOf([state("side", { kind: "choice", choices: ["left", "middle"] })]).ArrowLeft, undefined);
});

test("buttons get their own letter or the next digit", () => {
  const keys = keysOf(["describe", "reset", "jump", "announce"].map(button));
  assert.equal(keys[1].command.name, "describe");
  assert.equal(keys.r.command.name, "reset");
  assert.equal(keys[" "].command.name, "jump");
  assert.equal(keys[2].command.name, "announce");
});

test("switches and choices get a letter of their name, never one of the page's own", () => {
  const keys = keysOf([state("mf", { kind: "switch" }), state("fog", { kind: "switch" }), state("mood", { kind: "choice", choices: [1, 2] })]);
  assert.equal(keys.m, undefined);
  assert.equal(keys.f, undefined);
  assert.equal(keys.o.kind, "toggle");
  assert.equal(keys.d.kind, "next");
});

test("free arrows move the sliders that are named after them", () => {
  const turn = state("turn", { kind: "slider", minimum: -1, maximum: 1, step: 0.02 });
  const speed = state("speed", { kind: "slider", minimum: 0, maximum: 3, step: 0.02 });
  const keys = keysOf([turn, speed, button("go_up"), button("go_down")]);
  assert.equal(keys.ArrowLeft.kind, "nudge");
  assert.equal(keys.ArrowLeft.value, -0.05);
  assert.equal(keys.ArrowUp.command.name, "go_up");
});

test("no key works two commands", () => {
  const many = [...Array(30)].map((_, index) => button(`go_left_${index}`));
  const keys = assignKeys(many).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
});

test("commands with arguments have no key", () => {
  assert.deepEqual(assignKeys([{ name: "say", label: "say", kind: "form", fields: [{ kind: "text" }] }]), []);
});
