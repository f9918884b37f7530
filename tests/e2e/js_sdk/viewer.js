// A page that uses the published SDK as an application does; tests drive `viewer` and read it.
import { Reactor } from "@reactor-team/js-sdk";

class Viewer {
  constructor(apiUrl) {
    this.messages = [];
    this.notices = [];
    this.errors = [];
    this.tracks = {};
    this.frames = 0;
    this.video = document.querySelector("video");
    this.reactor = new Reactor({ modelName: "any", local: true, apiUrl });
    this.reactor.on("message", (message) => this.messages.push(message));
    this.reactor.on("runtimeMessage", (message) => this.notices.push(message));
    this.reactor.on("error", (error) => this.errors.push(`${error.code}: ${error.message}`));
    this.reactor.on("trackReceived", (name, track) => this.#show(name, track));
    const count = () => {
      this.frames += 1;
      this.video.requestVideoFrameCallback(count);
    };
    this.video.requestVideoFrameCallback(count);
  }

  get status() {
    return this.reactor.getStatus();
  }

  #show(name, track) {
    this.tracks[name] = track;
    if (track.kind === "video") {
      this.video.srcObject = new MediaStream([track]);
      this.video.play();
    }
  }

  // The colour at a place of the picture, both from 0 to 1.
  color(x, y) {
    const { videoWidth: width, videoHeight: height } = this.video;
    if (!width) return [0, 0, 0];
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.drawImage(this.video, x * width, y * height, 1, 1, 0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  // How loud a track is: the largest sample of a moment of it.
  async loudness(name) {
    this.context ??= new AudioContext();
    await this.context.resume();
    this.meter ??= this.#listen(name);
    const samples = new Float32Array(this.meter.fftSize);
    this.meter.getFloatTimeDomainData(samples);
    return Math.max(...samples);
  }

  // The pitch of a track: the frequency that is the strongest of a moment of it.
  async pitch(name) {
    this.context ??= new AudioContext();
    await this.context.resume();
    this.meter ??= this.#listen(name);
    this.meter.fftSize = 16384;
    const levels = new Float32Array(this.meter.frequencyBinCount);
    this.meter.getFloatFrequencyData(levels);
    return (levels.indexOf(Math.max(...levels)) * this.context.sampleRate) / this.meter.fftSize;
  }

  #listen(name) {
    const stream = new MediaStream([this.tracks[name]]);
    // Chromium gives Web Audio nothing of a remote track that no element plays.
    Object.assign(new Audio(), { srcObject: stream, muted: true }).play();
    const meter = this.context.createAnalyser();
    this.context.createMediaStreamSource(stream).connect(meter);
    return meter;
  }

  async publishCamera(name) {
    const media = await navigator.mediaDevices.getUserMedia({ video: true });
    await this.reactor.publishTrack(name, media.getVideoTracks()[0]);
  }

  // A picture of one colour as a camera.
  async publishColor(name, color) {
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 240 });
    const context = canvas.getContext("2d");
    this.painting = setInterval(() => {
      context.fillStyle = color;
      context.fillRect(0, 0, 320, 240);
    }, 33);
    await this.reactor.publishTrack(name, canvas.captureStream(30).getVideoTracks()[0]);
  }
}

globalThis.viewer = new Viewer(new URLSearchParams(location.search).get("server"));
