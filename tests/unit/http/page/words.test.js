import assert from "node:assert/strict";
import { test } from "node:test";

import { mayFollow, Phase } from "./page/phase.js";
import { captureWords, endingWords, fileWords, noPictureWords, phaseWords, refusalWords } from "./page/words.js";

test("every phase has words, and every phase a person is stuck in has something to do", () => {
  for (const phase of Object.values(Phase)) {
    const words = phaseWords(phase, {});
    assert.ok(words.chip && words.tone, phase);
    const isStuck = [Phase.ENDED, Phase.FAILED, Phase.LOCKED].includes(phase);
    if (isStuck) assert.ok(words.action || words.asksToken, phase);
    if (isStuck) assert.equal(words.isBusy, undefined);
  }
});

test("no phase is a dead end, and a live page is never taken for one that begins", () => {
  for (const phase of Object.values(Phase)) {
    assert.ok(Object.values(Phase).some((next) => mayFollow(phase, next)), phase);
  }
  assert.equal(mayFollow(Phase.LIVE, Phase.LOADING), false);
  assert.equal(mayFollow(Phase.ENDED, Phase.LIVE), false);
});

test("a model without a picture says where else to look", () => {
  assert.match(noPictureWords(false).text, /^What it says is under Activity\.$/);
  assert.match(noPictureWords(true).text, /sound/);
});

test("each way a session ends is told in plain words", () => {
  for (const reason of ["stopped", "timed_out", "error", "moderated", "start_refused", "gone"]) {
    const { title, text } = endingWords(reason);
    assert.ok(title && text, reason);
    assert.ok(!title.includes("_") && !text.includes("_"), reason);
  }
  assert.match(endingWords("quota used up").text, /quota used up/);
  assert.equal(endingWords("").title, "The session has ended");
});

test("a file that was not sent says why", () => {
  assert.match(fileWords({ status: 413, detail: "the file is larger than 1 MiB" }), /larger than 1 MiB/);
  assert.match(fileWords({ status: 0 }), /broke off/);
  assert.match(fileWords({ status: 404, detail: "Unknown upload" }), /session has ended/);
  assert.match(fileWords({ status: 408, detail: "x" }), /slowly/);
  assert.equal(fileWords({ code: "not_connected" }), "Not connected");
  assert.match(fileWords(new Error("it was called off")), /called off/);
});

test("the detail of an error reaches the person", () => {
  assert.match(endingWords("error", "the session failed: ValueError").text, /^The session failed: ValueError\. The server’s log/);
  assert.match(endingWords("moderated", "not this").text, /Not this/);
  assert.match(phaseWords(Phase.FAILED, { code: "refused", detail: "no interface but loopback" }).text, /loopback/);
  assert.match(phaseWords(Phase.FAILED, { status: 403, detail: "origin" }).title, /does not accept/);
  assert.match(phaseWords(Phase.FAILED, { code: "no_path" }).text, /TURN/);
});

test("a refusal shows the author's words, and no code of ours where there are words", () => {
  assert.equal(refusalWords("too_early", "come back later"), "come back later");
  assert.equal(refusalWords("too_early"), "Too early");
  assert.match(refusalWords("invalid_command", "set_speed.speed: at most 4"), /at most 4/);
  assert.doesNotMatch(refusalWords("unresolved_upload"), /_/);
});

test("a camera that does not open is explained", () => {
  globalThis.isSecureContext = true;
  assert.match(captureWords({ name: "NotAllowedError" }, "camera"), /not allowed/);
  assert.match(captureWords({ name: "NotFoundError" }, "camera"), /No camera/);
  globalThis.isSecureContext = false;
  assert.match(captureWords({}, "camera"), /HTTPS/);
});
