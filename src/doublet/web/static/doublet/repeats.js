// Decisions about repeats: the page of repeats runs in a frame without an origin, so it tells this page what to keep.
(() => {
  "use strict";
  const frame = document.querySelector("iframe[data-decisions]");
  if (!frame) return;
  const told = document.querySelector("[data-kept]");
  const state = JSON.parse(document.getElementById("decisions").textContent);
  const secret = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
  let waiting = Promise.resolve();
  window.addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || !event.data) return;
    if (event.data.doublet === "ready") {
      frame.contentWindow.postMessage({ doublet: "decided", state }, "*");
    } else if (event.data.doublet === "decisions") {
      const body = JSON.stringify(event.data.state);
      waiting = waiting.then(() => fetch(frame.dataset.decisions, {
        method: "POST", body, headers: { "Content-Type": "application/json", "X-CSRFToken": secret },
      })).then((answer) => { told.textContent = answer.ok ? told.dataset.saved : told.dataset.failed; },
        () => { told.textContent = told.dataset.failed; });
    }
  });
})();
