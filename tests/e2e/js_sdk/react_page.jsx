// The SDK's own components, which connect, show, steer and publish by themselves.
import { createRoot } from "react-dom/client";
import {
  ReactorController,
  ReactorProvider,
  ReactorView,
  WebcamStream,
  useReactor,
} from "@reactor-team/js-sdk";

function Status() {
  const status = useReactor((state) => state.status);
  return <output id="status">{status}</output>;
}

// By itself it connects only with a token, though a local server needs none.
const connecting = { jwtToken: "local", connectOptions: { autoConnect: true } };
const apiUrl = new URLSearchParams(location.search).get("server");
createRoot(document.getElementById("root")).render(
  <ReactorProvider modelName="any" local apiUrl={apiUrl} {...connecting}>
    <Status />
    <div id="view"><ReactorView track="main_video" audioTrack="tone" /></div>
    <div id="camera"><WebcamStream track="webcam" /></div>
    <div id="controls"><ReactorController /></div>
  </ReactorProvider>,
);
