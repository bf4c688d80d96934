// The pages work without this file. It keeps the state of a run up to date, says the value of the slider while it moves,
// and moves the focus to the search box.
"use strict";

const live = document.querySelector("[data-live]");
if (live) {
  const source = new EventSource(live.dataset.live);
  source.addEventListener("state", (event) => {
    if (!live.contains(document.activeElement)) {
      live.innerHTML = event.data; // made and escaped by the server
    }
  });
  addEventListener("pagehide", () => source.close());
}

const slider = document.querySelector(".limit input[type=range]");
if (slider) {
  const output = slider.form.querySelector("output");
  const say = () => { output.value = slider.value; };
  slider.addEventListener("input", say);
  say(); // a browser restores the slider's value when it goes back
}

addEventListener("keydown", (event) => {
  const typing = /^(input|textarea|select)$/i.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("find")?.focus();
  }
});
