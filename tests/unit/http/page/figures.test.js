import assert from "node:assert/strict";
import { test } from "node:test";

import { EventParser } from "./page/events.js";
import { between, meanBetween, ranksBetween, readMetrics, readReport } from "./page/figures.js";

const report = (entries) => new Map(entries.map((entry, index) => [index, entry]));
const video = (more) => ({ type: "inbound-rtp", kind: "video", timestamp: 1000, codecId: 9, ...more });

test("figures are what happened between two readings", () => {
  const codec = { type: "codec", id: 9, mimeType: "video/VP8" };
  const pair = { type: "candidate-pair", nominated: true, state: "succeeded", currentRoundTripTime: 0.012 };
  const before = readReport(report([codec, video({ framesDecoded: 10, bytesReceived: 1000, framesDropped: 1 })]));
  const after = readReport(
    report([
      codec,
      pair,
      video({ timestamp: 3000, framesDecoded: 58, bytesReceived: 251_000, framesDropped: 3, jitter: 0.004, frameWidth: 640, frameHeight: 360 }),
    ]),
  );
  const figures = between(before, after);
  assert.equal(figures.fps, 24);
  assert.equal(figures.mbps, 1);
  assert.equal(figures.roundTripMs, 12);
  assert.equal(figures.jitterMs, 4);
  assert.equal(figures.dropped, 3);
  assert.equal(figures.size, "640 × 360");
  assert.equal(figures.codec, "VP8");
});

test("no time between two readings is no figure", () => {
  const reading = readReport(report([video({})]));
  assert.equal(between(reading, reading), null);
});

test("with several pictures the largest is named", () => {
  const reading = readReport(report([video({ frameWidth: 64, frameHeight: 64 }), video({ frameWidth: 1280, frameHeight: 720 }), video({ frameWidth: 8, frameHeight: 8 })]));
  assert.equal(reading.size, "1280 × 720");
});

test("the server's figures are read from Prometheus text", () => {
  const before = readMetrics("# HELP x y\nreactor_step_seconds_sum 1.0\nreactor_step_seconds_count 10.0\n");
  const after = readMetrics('reactor_step_seconds_sum 1.5\nreactor_step_seconds_count 20\nreactor_queue_frames{track="a b"} 2\nreactor_queue_frames{track="c"} 1\nodd\n');
  assert.equal(meanBetween(before, after, "reactor_step_seconds"), 0.05);
  assert.equal(meanBetween(after, after, "reactor_step_seconds"), null);
  assert.equal(after.get("reactor_queue_frames").sum, 3);
});

test("an event stream is read however it is cut", () => {
  const text = 'id: 4\ndata: {"event":"command"}\n\n: note\n\nid: 5\ndata: {"event":"metric"}\n\ndata: nonsense\n\n';
  for (let size = 1; size < text.length; size += 1) {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...parser.feed(text.slice(at, at + size)));
    assert.deepEqual(found.map(({ id, payload }) => [id, payload.event]), [[4, "command"], [5, "metric"]]);
  }
});

test("ranks are told by what they computed between two readings, the slowest first", () => {
  const name = "reactor_rank_compute_seconds";
  const lines = (rank, count, sum) => `${name}_count{rank="${rank}"} ${count}\n${name}_sum{rank="${rank}"} ${sum}\n`;
  const before = readMetrics(lines(0, 10, 1) + lines(1, 10, 1));
  const after = readMetrics(lines(0, 14, 1.2) + lines(1, 14, 1.4) + lines(2, 0, 0));
  const ranks = ranksBetween(before, after, name).map(({ rank, mean }) => [rank, mean.toFixed(3)]);
  assert.deepEqual(ranks, [["1", "0.100"], ["0", "0.050"]]);
  assert.deepEqual(ranksBetween(before, before, name), []);
});
