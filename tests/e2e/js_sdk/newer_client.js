// Begins as the SDK's successor does: same HTTP as the Python SDK, `control` before `data`, trickled
// candidates, and what it says at ready (protobuf, made by the test) at once.
async function begin(server, frames) {
  const post = (url, body) => fetch(url, { method: "POST", body: JSON.stringify(body) });
  const session = await (await post(`${server}/start_session`, {})).json();
  const routes = `${server}/sessions/${session.session_id}/transport/webrtc`;
  const peer = new RTCPeerConnection();
  const newer = { peer, control: [], video: document.querySelector("video") };
  globalThis.newer = newer;
  const control = peer.createDataChannel("control");
  const data = peer.createDataChannel("data");
  const { tracks } = session.capabilities;
  const sections = tracks.map(({ kind, direction }) => peer.addTransceiver(kind, { direction }));
  peer.ontrack = ({ track }) => {
    if (track.kind === "video") newer.video.srcObject = new MediaStream([track]);
  };
  control.binaryType = "arraybuffer";
  control.onmessage = ({ data: frame }) => newer.control.push([...new Uint8Array(frame)]);
  const opened = Promise.all([control, data].map((c) => new Promise((open) => (c.onopen = open))));

  const { connection_id: id } = await (await post(`${routes}/connections`, {})).json();
  const mine = `${routes}/connections/${id}`;
  const client_info = { sdk_version: "0.1.0", sdk_type: "js" };
  peer.onicecandidate = ({ candidate }) =>
    post(`${mine}/ice_candidates`, {
      candidates: candidate?.candidate
        ? [
            {
              candidate: candidate.candidate,
              sdp_mid: candidate.sdpMid,
              sdp_mline_index: candidate.sdpMLineIndex,
            },
          ]
        : [],
      is_final: !candidate,
      client_info,
    });
  await peer.setLocalDescription();
  await post(`${mine}/sdp_params`, {
    sdp_offer: peer.localDescription.sdp,
    client_info,
    track_mapping: tracks.map((track, n) => ({ mid: sections[n].mid, ...track })),
  });
  let answer;
  do answer = await fetch(`${mine}/sdp_params`);
  while (answer.status === 202);
  await peer.setRemoteDescription({ type: "answer", sdp: (await answer.json()).sdp_answer });
  await opened;
  for (const frame of frames) control.send(new Uint8Array(frame));
  newer.video.play();
}
