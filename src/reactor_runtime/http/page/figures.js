// Figures from what the browser counts (getStats) and what the server counts (/metrics). Pure.

/** Pick from a stats report what the page shows, summed over video tracks where that makes sense. */
export function readReport(report) {
  const seen = { at: 0, bytes: 0, frames: 0, dropped: 0, lost: 0, received: 0, jitterS: 0, holdS: 0, held: 0, area: 0 };
  const codecs = new Map();
  for (const entry of report.values()) if (entry.type === "codec") codecs.set(entry.id, entry.mimeType);
  for (const entry of report.values()) {
    if (entry.type === "inbound-rtp") readInbound(seen, entry, codecs);
    const isPath = entry.type === "candidate-pair" && entry.nominated && entry.state === "succeeded";
    if (isPath && entry.currentRoundTripTime !== undefined) seen.roundTripS = entry.currentRoundTripTime;
  }
  return seen;
}

function readInbound(seen, entry, codecs) {
  seen.at = Math.max(seen.at, entry.timestamp);
  seen.bytes += entry.bytesReceived ?? 0;
  seen.lost += entry.packetsLost ?? 0;
  seen.received += entry.packetsReceived ?? 0;
  if (entry.kind !== "video") return;
  seen.frames = Math.max(seen.frames, entry.framesDecoded ?? 0);
  seen.dropped += entry.framesDropped ?? 0;
  seen.jitterS = Math.max(seen.jitterS, entry.jitter ?? 0);
  seen.holdS += entry.jitterBufferDelay ?? 0;
  seen.held += entry.jitterBufferEmittedCount ?? 0;
  const area = (entry.frameWidth ?? 0) * (entry.frameHeight ?? 0);
  if (area > seen.area) Object.assign(seen, { area, size: `${entry.frameWidth} × ${entry.frameHeight}` });
  const mime = codecs.get(entry.codecId);
  if (mime) seen.codec = mime.split("/")[1];
}

/** What happened between two readings: fps, megabits a second, milliseconds, pictures lost. */
export function between(before, after) {
  const seconds = (after.at - before.at) / 1000;
  if (!(seconds > 0)) return null;
  const held = after.held - before.held;
  return {
    fps: Math.max(0, after.frames - before.frames) / seconds,
    mbps: (Math.max(0, after.bytes - before.bytes) * 8) / 1e6 / seconds,
    roundTripMs: after.roundTripS === undefined ? null : after.roundTripS * 1000,
    jitterMs: after.jitterS * 1000,
    bufferMs: held > 0 ? (1000 * (after.holdS - before.holdS)) / held : null,
    dropped: after.dropped,
    lost: after.lost,
    size: after.size ?? "",
    codec: after.codec ?? "",
  };
}

/** Prometheus text as a map from name to the sum and the list of its samples. */
export function readMetrics(text) {
  const found = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line);
    if (!match) continue;
    const value = Number(match[3].replace("Inf", "Infinity"));
    if (Number.isNaN(value)) continue;
    const entry = found.get(match[1]) ?? { sum: 0, samples: [] };
    entry.sum += value;
    entry.samples.push({ labels: match[2] ?? "", value });
    found.set(match[1], entry);
  }
  return found;
}

/** Mean of a histogram or summary between two readings, in its own unit; null when nothing happened. */
export function meanBetween(before, after, name) {
  const count = (after.get(`${name}_count`)?.sum ?? 0) - (before.get(`${name}_count`)?.sum ?? 0);
  const sum = (after.get(`${name}_sum`)?.sum ?? 0) - (before.get(`${name}_sum`)?.sum ?? 0);
  return count > 0 ? sum / count : null;
}

/** Mean by rank of what ranks computed between two readings, slowest first; empty without ranks. */
export function ranksBetween(before, after, name) {
  const totals = (found, suffix) => new Map((found.get(`${name}_${suffix}`)?.samples ?? []).map((s) => [s.labels, s.value]));
  const [sumsBefore, countsBefore] = [totals(before, "sum"), totals(before, "count")];
  const [sums, counts] = [totals(after, "sum"), totals(after, "count")];
  const means = [...counts].map(([labels, count]) => {
    const steps = count - (countsBefore.get(labels) ?? 0);
    const seconds = (sums.get(labels) ?? 0) - (sumsBefore.get(labels) ?? 0);
    return { rank: /rank="(\d+)"/.exec(labels)?.[1] ?? "", mean: steps > 0 ? seconds / steps : null };
  });
  return means.filter(({ mean }) => mean !== null).sort((one, other) => other.mean - one.mean);
}
