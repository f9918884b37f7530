// The page, put together: which part hears of what.

import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Dispatch } from "./dispatch.js";
import { EventFeed } from "./events.js";
import { Keyboard } from "./keyboard.js";
import { Log } from "./log.js";
import { Metadata } from "./metadata.js";
import { Notice } from "./notice.js";
import { Phase } from "./phase.js";
import { Publisher } from "./publish.js";
import { pause } from "./rate.js";
import { Recording } from "./recording.js";
import { readSchema } from "./schema.js";
import { Server } from "./server.js";
import { assignKeys } from "./shortcuts.js";
import { Sound } from "./sound.js";
import { Stage } from "./stage.js";
import { Stats } from "./stats.js";
import { Uploads } from "./uploads.js";
import { endingWords, noPictureWords, refusalWords } from "./words.js";

const find = (id) => document.getElementById(id);
const address = new URL(location.href);

const server = new Server(new URL(".", address), address.searchParams.get("token") ?? "");
const connection = new Connection(server);
const log = new Log(find("feed"));
const dispatch = new Dispatch(connection, new Uploads(connection, server), log);
const controls = new Controls(find("controls"), dispatch);
const stage = new Stage(find("tiles"), find("overlay"));
const sound = new Sound(find("sound-button"), find("volume"));
const publisher = new Publisher(find("inputs"), stage, log);
const recording = new Recording(find("recording"), connection, server);
const stats = new Stats(find("stats-row"), server);
const metadata = new Metadata(find("stats-metadata"));
const events = new EventFeed(server);
const keyboard = new Keyboard(find("keys"), controls, dispatch, {
  m: () => sound.toggle(),
  f: toggleFullScreen,
});
const notice = new Notice(find("chip"), find("notice"), {
  onAction: () => ([Phase.RECONNECTING, Phase.UNREACHABLE].includes(connection.phase) ? connection.hurry() : connection.open()),
  onToken: (token) => {
    server.token = token;
    connection.open();
    events.unlock();
  },
});

const NO_PICTURE_MS = 1500;

let commands = new Map();
const heard = new Map(); // what the session's state was set to: command name to arguments
let shownSchema = "";

async function showModel(descriptor) {
  const document_ = await server.schema();
  const text = JSON.stringify(document_);
  if (text === shownSchema) return; // the same model as before: keep what is typed
  shownSchema = text;
  const schema = readSchema(document_);
  commands = new Map(schema.commands.map((command) => [command.name, command]));
  const title = schema.title || descriptor.model?.name || "Reactor";
  document.title = title;
  find("title").textContent = title;
  find("about").textContent = schema.description;
  find("about").title = schema.description; // in full, where it is long
  find("about").hidden = !schema.description;
  controls.show(schema);
  for (const [name, values] of heard) controls.follow(name, values);
  log.knowMessages(schema.messages);
  const keys = assignKeys(schema.commands);
  controls.showKeys(keys);
  keyboard.show(keys);
}

function showTracks(descriptor) {
  const tracks = descriptor.capabilities?.tracks ?? [];
  const names = (kind, direction) =>
    tracks.filter((track) => track.kind === kind && track.direction === direction).map(({ name }) => name);
  stage.setTracks(names("video", "recvonly"));
  find("expand-button").hidden = !document.fullscreenEnabled || !stage.hasVideo;
  sound.setTracks(names("audio", "recvonly"));
  publisher.setTracks(tracks.filter(({ direction }) => direction === "sendonly"));
}

connection.addEventListener("phase", ({ detail }) => {
  const { phase, ...facts } = detail;
  if (phase !== Phase.LIVE) {
    stage.freeze();
    stats.follow(null);
  }
  notice.show(phase, facts);
  performance.mark(`reactor-${phase}`); // for whoever looks at the browser's timeline
  find("stop-button").hidden = phase !== Phase.LIVE;
  if (phase === Phase.ENDED) {
    recording.ended();
    const { title, text } = endingWords(facts.reason, facts.detail);
    log.notice(`${title}. ${text}`, facts.reason === "error" ? "error" : "note");
  } else if (phase === Phase.RECONNECTING && facts.reason) log.notice(`Reconnecting: ${facts.reason}`);
});

connection.addEventListener("found", ({ detail }) => {
  showTracks(detail.descriptor);
  recording.show(detail.descriptor);
  showModel(detail.descriptor).catch((error) => log.notice(`The controls could not be made: ${error.message}`, "error"));
});

connection.addEventListener("track", ({ detail: { name, track } }) => {
  if (track.kind === "video") stage.attach(name, track);
  else sound.attach(name, track);
});

connection.addEventListener("joined", ({ detail: { peer, descriptor } }) => {
  for (const { name, kind, direction } of descriptor.capabilities?.tracks ?? []) {
    if (kind === "video" && direction === "recvonly") peer.notify("resume_track", { name });
  }
  peer.notify("ping");
  sound.joined((member, body) => peer.notify(member, body));
  publisher.joined(peer);
  stats.follow(peer);
  if (stage.hasVideo) awaitPicture(peer);
  else showNoPicture(descriptor.capabilities?.tracks ?? []);
});

function showNoPicture(tracks) {
  const { title, text } = noPictureWords(tracks.some(({ kind, direction }) => kind === "audio" && direction === "recvonly"));
  notice.ask(title, text);
}

/** Say what is missing while there is no picture; a model that transforms a camera needs one first. */
async function awaitPicture(peer) {
  const isWaiting = () => connection.peer === peer && !stage.hasPicture;
  if (isWaiting()) notice.wait("Waiting for the first picture");
  await pause(NO_PICTURE_MS);
  const input = publisher.idleVideo;
  if (isWaiting() && input) notice.ask("Nothing to see yet", "This model may need your camera first.", "Send camera", () => input.begin());
}

stage.addEventListener("picture", () => {
  performance.mark("reactor-picture");
  if (connection.phase === Phase.LIVE) notice.clear();
});
connection.addEventListener("message", ({ detail }) => log.broadcast(detail));
connection.addEventListener("problem", ({ detail }) => log.notice(detail.message || refusalWords(detail.code), "error"));
connection.addEventListener("moderated", ({ detail }) => log.notice(detail.message || "The server judged an input unsuitable", "error"));
connection.addEventListener("unsteady", ({ detail }) => notice.unsteady(detail));

// What others do: their changes of the state are shown on the controls of this page too.
events.addEventListener("event", ({ detail: { event, detail = {} } }) => {
  metadata.hear(event, detail);
  if (event === "start_session") {
    heard.clear();
    controls.reset();
  }
  if (event !== "command" || !detail.args) return;
  heard.set(detail.name, detail.args);
  const isOwn = connection.peer && String(detail.conn_id) === String(connection.peer.connectionId);
  if (commands.get(detail.name)?.kind === "state" && !isOwn) controls.follow(detail.name, detail.args);
});

stats.addEventListener("facts", ({ detail }) => {
  find("facts").textContent = detail;
  find("stats-caption").textContent = detail;
});

function toggleFullScreen() {
  if (document.fullscreenElement) void document.exitFullscreen();
  else find("stage").requestFullscreen?.().catch(() => {});
}

find("expand-button").addEventListener("click", toggleFullScreen);
find("keys-button").addEventListener("click", () => keyboard.toggleHelp());
find("clear-button").addEventListener("click", () => log.clear());
find("stats-button").addEventListener("click", ({ currentTarget }) => {
  const isShown = !document.body.classList.toggle("no-stats");
  currentTarget.setAttribute("aria-pressed", String(isShown));
});

for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.addEventListener("click", () => {
    document.body.dataset.tab = tab.dataset.tab;
    for (const other of document.querySelectorAll("[role=tab]")) {
      other.setAttribute("aria-selected", String(other === tab));
    }
  });
}

// Stop ends the session for everybody, so it asks once, in place.
let asking = null;
find("stop-button").addEventListener("click", async ({ currentTarget: button }) => {
  const settle = () => {
    clearTimeout(asking);
    asking = null;
    button.classList.remove("is-asking");
    button.querySelector(".stop-text").textContent = "Stop";
  };
  if (asking === null) {
    asking = setTimeout(settle, 4000);
    button.classList.add("is-asking");
    button.querySelector(".stop-text").textContent = "Stop for everyone?";
    return;
  }
  settle();
  try {
    await connection.stop();
  } catch (error) {
    log.notice(`The session was not stopped: ${error.message}`, "error");
  }
});

addEventListener("online", () => connection.hurry());
addEventListener("pagehide", () => connection.close());
addEventListener("pageshow", ({ persisted }) => persisted && connection.open()); // back from the history

/** For the browser's console: `await reactor.command("set_speed", {speed: 2})`. */
globalThis.reactor = connection;

connection.open();
events.open();
