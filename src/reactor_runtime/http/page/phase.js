// Where the page stands with the server, and what may follow what.

export const Phase = Object.freeze({
  CONTACTING: "contacting", // asking the server how it is
  LOADING: "loading", // the model is not ready yet
  JOINING: "joining", // a session exists, the connection is being made
  LIVE: "live",
  RECONNECTING: "reconnecting", // the connection was lost or not made; trying again
  UNREACHABLE: "unreachable", // the server does not answer; trying again
  ENDED: "ended", // the session is over; a person decides what next
  FAILED: "failed", // trying again would not help; a person decides what next
  LOCKED: "locked", // the server wants a token
});

const { CONTACTING, LOADING, JOINING, LIVE, RECONNECTING, UNREACHABLE, ENDED, FAILED, LOCKED } = Phase;
const TROUBLE = [RECONNECTING, UNREACHABLE, ENDED, FAILED, LOCKED];

const FOLLOWS = {
  [CONTACTING]: [LOADING, JOINING, ...TROUBLE],
  [LOADING]: [LOADING, CONTACTING, JOINING, ...TROUBLE],
  [JOINING]: [LIVE, LOADING, ...TROUBLE],
  [LIVE]: TROUBLE,
  [RECONNECTING]: [JOINING, LOADING, CONTACTING, ...TROUBLE],
  [UNREACHABLE]: [JOINING, LOADING, CONTACTING, ...TROUBLE],
  [ENDED]: [CONTACTING],
  [FAILED]: [CONTACTING],
  [LOCKED]: [CONTACTING],
};

/** Whether `next` may follow `phase`. */
export function mayFollow(phase, next) {
  return FOLLOWS[phase].includes(next);
}
