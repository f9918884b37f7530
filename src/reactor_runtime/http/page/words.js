// What the page says: every phase, ending and refusal in plain words.

import { Phase } from "./phase.js";

const LOG_HAS_IT = "The server’s log has the cause.";

const ENDINGS = {
  stopped: ["The session was stopped", "Start a new one whenever you like."],
  timed_out: ["The session timed out", "Nobody was connected for a while, so the server ended it."],
  error: ["The model failed", `It raised an error and the session ended. ${LOG_HAS_IT}`],
  moderated: ["The session was ended by moderation", "The server judged an input unsuitable."],
  start_refused: ["The model refused to start", "The server’s log has the reason."],
  gone: ["The session has ended", "It ended while this page was not connected."],
};

/**
 * The ending of a session: `{title, text}`. A reason the page does not know is shown as it is;
 * `detail` is what the server said of it before.
 */
export function endingWords(reason = "", detail = "") {
  const known = ENDINGS[reason];
  if (!known) return { title: "The session has ended", text: reason ? `The server says: ${reason}` : "" };
  const [title, text] = known;
  return { title, text: detail ? `${sentence(detail)} ${reason === "error" ? LOG_HAS_IT : ""}`.trim() : text };
}

/** "the session failed: X" → "The session failed: X." */
function sentence(text) {
  const end = /[.!?…]$/.test(text) ? "" : ".";
  return text ? text[0].toUpperCase() + text.slice(1) + end : "";
}

/** What stands where the picture of other models is. */
export function noPictureWords(hasSound) {
  const elsewhere = hasSound ? "Turn the sound on to hear it; what it says in words" : "What it says";
  return { title: "This model shows no picture", text: `${elsewhere} is under Activity.` };
}

const FAILURES = {
  terminated: ["The server has shut its model down", "Restart the server to go on; its log has the cause."],
  no_answer: [
    "The server did not answer the connection",
    "It took the request but sent no answer. Its log may say why.",
  ],
  no_path: [
    "No network path to the server",
    "The page reaches the server over HTTP, but video and controls need a direct UDP path and none was " +
      "found. A firewall, a VPN or a container’s private network is the usual cause: publish the UDP ports, " +
      "use host networking, or configure a TURN server.",
  ],
  no_channels: ["The connection stayed half open", "Video connected but the control channels did not."],
};

function failureWords({ code, status, detail }) {
  if (status === 403) {
    return { title: "The server does not accept this page", text: sentence(detail) || "Its origin is not allowed." };
  }
  const known = FAILURES[code];
  if (known) return { title: known[0], text: known[1] };
  const title = status === 503 ? "The server cannot connect this page" : "The connection was refused";
  return { title, text: sentence(detail ?? "") };
}

const AGAIN = "Try again";

/**
 * What the page shows in a phase: `{chip, tone, title, text, action, isBusy, asksToken}`.
 * `title` empty means the picture needs no notice over it.
 */
export function phaseWords(phase, facts = {}) {
  const trying = facts.detail ? `${sentence(facts.detail)} ` : "";
  switch (phase) {
    case Phase.CONTACTING:
      return { chip: "Connecting", tone: "busy", title: "Connecting", text: "", isBusy: true };
    case Phase.LOADING:
      return facts.isClosing
        ? { chip: "Closing", tone: "busy", title: "The last session is closing", text: "One moment.", isBusy: true }
        : {
            chip: "Loading",
            tone: "busy",
            title: "The model is loading",
            text: "Weights and warm-up can take a while. The picture starts by itself.",
            isBusy: true,
          };
    case Phase.JOINING:
      return { chip: "Connecting", tone: "busy", title: facts.isAgain ? "Reconnecting" : "Joining", text: "", isBusy: true };
    case Phase.LIVE:
      return { chip: "Live", tone: "good", title: "", text: "" };
    case Phase.RECONNECTING:
      return {
        chip: "Reconnecting",
        tone: "busy",
        title: "Reconnecting",
        text: `${trying}The session goes on; this page is finding its way back.`,
        action: "Try now",
        isBusy: true,
      };
    case Phase.UNREACHABLE:
      return {
        chip: "Offline",
        tone: "bad",
        title: "The server cannot be reached",
        text: "The page keeps trying and comes back by itself.",
        action: "Try now",
        isBusy: true,
      };
    case Phase.ENDED: {
      const words = endingWords(facts.reason, facts.detail);
      const tone = facts.reason === "error" ? "bad" : "idle";
      return { chip: tone === "bad" ? "Failed" : "Ended", tone, ...words, action: "Start again" };
    }
    case Phase.FAILED:
      return { chip: "Failed", tone: "bad", ...failureWords(facts), action: AGAIN };
    case Phase.LOCKED:
      return {
        chip: "Locked",
        tone: "bad",
        title: facts.isWrong ? "That token is not right" : "This server wants a token",
        text: "Whoever started the server has it: REACTOR_TOKEN or --token.",
        asksToken: true,
      };
  }
  return { chip: phase, tone: "idle", title: phase, text: "" };
}

const REFUSALS = {
  invalid_command: "The server did not accept it",
  internal_error: "The model’s code failed on it; the server’s log has the cause",
  unresolved_upload: "The file did not reach the model",
  overloaded: "Too many commands are waiting; it was not run",
  superseded: "A newer one took its place before it could run",
  session_ended: "The session ended before it was answered",
  publish_refused: "The server did not take this input",
  clip_failed: "There is no clip",
  no_reply: "No answer within ten seconds",
  not_connected: "Not connected",
  message_too_large: "It is too large to send",
};

/** A refused command in plain words, with the server's own message where it adds something. */
export function refusalWords(code, detail = "") {
  const known = REFUSALS[code];
  const ownMessage = detail && detail !== code ? detail : "";
  if (!known) return ownMessage || humanCode(code);
  if (code === "internal_error") return known;
  return ownMessage ? `${known}: ${ownMessage}` : known;
}

/** Why a file was not sent. */
export function fileWords({ status, code, detail, message }) {
  if (typeof code === "string") return refusalWords(code, detail);
  switch (status) {
    case 0:
      return "The file was not sent: the connection broke off";
    case 404:
      return "The file was not sent: its session has ended";
    case 408:
      return "The file was not sent: it went too slowly";
  }
  const words = detail ?? message ?? "";
  return words ? `The file was not sent: ${words}` : "The file was not sent";
}

function humanCode(code) {
  const words = String(code).replaceAll("_", " ");
  return words ? words[0].toUpperCase() + words.slice(1) : "Refused";
}

/** Why a camera or microphone could not be opened. */
export function captureWords(error, what) {
  if (!globalThis.isSecureContext) {
    return `Browsers open the ${what} only on localhost or HTTPS; this page came over plain HTTP`;
  }
  switch (error?.name) {
    case "NotAllowedError":
      return `The browser was not allowed to use the ${what}`;
    case "NotFoundError":
      return `No ${what} was found`;
    case "NotReadableError":
      return `The ${what} is in use by another program`;
  }
  return `The ${what} could not be opened: ${error?.message ?? "unknown cause"}`;
}
